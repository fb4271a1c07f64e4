"""CaSiNo's tasks: strategies, the partner's priorities, the deal, outcomes, new deals."""

from .beliefs import BELIEFS
from .bids import BIDS
from .deals import DEALS
from .decisions import DECISIONS
from .final_deal import FINAL_DEAL
from .outcomes import OUTCOMES
from .partner_priorities import PRIORITIES
from .strategies import STRATEGIES

TASKS = {
    "strategies": STRATEGIES,
    "partner-priorities": PRIORITIES,
    "beliefs": BELIEFS,
    "decisions": DECISIONS,
    "bids": BIDS,
    "final-deal": FINAL_DEAL,
    "outcomes": OUTCOMES,
    "deals": DEALS,
}
