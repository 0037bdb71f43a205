from .models import build_epp as build_epp
