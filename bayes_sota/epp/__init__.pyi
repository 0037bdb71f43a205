from .models import build_epp as build_epp
from .summary_report import EppReport as EppReport
from .summary_report import report_draws as report_draws
from .summary_report import report_fit as report_fit
from .summary_report import report_tournaments as report_tournaments
from .summary_table import tournaments_table as tournaments_table
from .tournaments import read_tournaments as read_tournaments
