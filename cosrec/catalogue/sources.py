"""The raw files of Amazon Reviews 2023 by category, and what its card states of them.

A build does not need them; `parley fetch` downloads them only for the catalogue.
"""

from .pins import PINS

# Category -> records of metadata (None: not stated) and reviews
STATED = {
    "All_Beauty": (112_590, "701.5e3"),
    "Amazon_Fashion": (None, "2.5e6"),
    "Appliances": (None, "2.1e6"),
    "Arts_Crafts_and_Sewing": (801_446, "9.0e6"),
    "Automotive": (None, "20.0e6"),
    "Baby_Products": (None, "6.0e6"),
    "Beauty_and_Personal_Care": (None, "23.9e6"),
    "Books": (None, "29.5e6"),
    "CDs_and_Vinyl": (None, "4.8e6"),
    "Cell_Phones_and_Accessories": (1_288_490, "20.8e6"),
    "Clothing_Shoes_and_Jewelry": (None, "66.0e6"),
    "Digital_Music": (None, "130.4e3"),
    "Electronics": (1_610_012, "43.9e6"),
    "Gift_Cards": (1_137, "152.4e3"),
    "Grocery_and_Gourmet_Food": (None, "14.3e6"),
    "Handmade_Products": (164_817, "664.2e3"),
    "Health_and_Household": (None, "25.6e6"),
    "Health_and_Personal_Care": (None, "494.1e3"),
    "Home_and_Kitchen": (None, "67.4e6"),
    "Industrial_and_Scientific": (427_564, "5.2e6"),
    "Kindle_Store": (None, "25.6e6"),
    "Magazine_Subscriptions": (None, "71.5e3"),
    "Movies_and_TV": (None, "17.3e6"),
    "Musical_Instruments": (213_593, "3.0e6"),
    "Office_Products": (None, "12.8e6"),
    "Patio_Lawn_and_Garden": (None, "16.5e6"),
    "Pet_Supplies": (None, "16.8e6"),
    "Software": (None, "4.9e6"),
    "Sports_and_Outdoors": (None, "19.6e6"),
    "Subscription_Boxes": (None, "16.2e3"),
    "Tools_and_Home_Improvement": (None, "27.0e6"),
    "Toys_and_Games": (890_874, "16.3e6"),
    "Unknown": (None, "63.8e6"),
    "Video_Games": (None, "4.6e6"),
}
PRODUCTS_IN_ALL = 12_312_760  # of the whole catalogue, as upstream states

# Category -> its two files by their paths, each with its pin
SOURCES = {
    category: {
        path: PINS[path]
        for path in (
            f"raw/meta_categories/meta_{category}.jsonl",
            f"raw/review_categories/{category}.jsonl",
        )
    }
    for category in STATED
}
