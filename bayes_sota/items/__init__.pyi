from .by_task import compare_by_task as compare_by_task
from .comparison import compare_methods as compare_methods
from .models import build_model as build_model
from .sample import complete as complete
from .score import Skill as Skill
from .score import skill_of_counts as skill_of_counts
from .score import skills_alone as skills_alone
