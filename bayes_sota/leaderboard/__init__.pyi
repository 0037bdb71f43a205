from .models import build_leaderboard as build_leaderboard
from .models import build_responses as build_responses
from .sample_coverage import coverage as coverage
from .summary_sota import describe_sota as describe_sota
from .summary_sota import report_point_estimate as report_point_estimate
from .summary_sota import report_sota as report_sota
