"""`parley card`."""

from parley.base.disk import write_whole
from parley.builds.card import renewed_card
from parley.cli.commands import single_command
from parley.cli.common import Attempts, Names, print_line, select

app = single_command()


@app.command("card")
def card_command(names: Names = None) -> None:
    """Renew the generated parts and counted numbers of the datasets' own cards.

    They come from the script, the sample and measured.json.
    """
    attempt = Attempts()
    for dataset in select(names):
        with attempt():
            text = renewed_card(dataset)
            if is_new := text != dataset.read_card():
                write_whole(dataset.card, text)
            print_line(f"{dataset.card}: {'renewed' if is_new else 'no change'}")
    attempt.finish()
