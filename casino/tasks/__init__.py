"""CaSiNo's tasks: strategies, the partner's priorities, the deal, outcomes, new deals."""

from .deals import DEALS
from .final_deal import FINAL_DEAL
from .outcomes import OUTCOMES
from .partner_priorities import PRIORITIES
from .strategies import STRATEGIES

TASKS = {
    "strategies": STRATEGIES,
    "partner-priorities": PRIORITIES,
    "final-deal": FINAL_DEAL,
    "outcomes": OUTCOMES,
    "deals": DEALS,
}
