"""The raw files of Amazon Reviews 2023 by category, and what its card states of them.

They are the uncompressed files of the Hub repository McAuley-Lab/Amazon-Reviews-2023 at one
revision: 34 categories, 377 GB of JSON Lines. A build does not need them; `parley fetch` downloads
them only for the catalogue.
"""

# ruff: noqa: E501

from typing import Any

PRODUCTS_IN_ALL = 12_312_760  # of the whole catalogue, as upstream states

_URL = (
    "https://huggingface.co/datasets/McAuley-Lab/Amazon-Reviews-2023/resolve/"
    "2b6d039ed471f2ba5fd2acb718bf33b0a7e5598e/"
)
# Category -> records of metadata (None: not stated) and reviews; size and sha256 of their files
# fmt: off
_CATEGORIES: dict[str, tuple[int | None, str, int, str, int, str]] = {
    "All_Beauty": (112_590, "701.5e3", 212_990_142, "1cfbdf6d2ccf9c3ac52a4508b15f31f8f340508a245b65c3e3b5f461e06e97ef", 326_611_506, "36ca7c48440a8247b2dca0174d095238422b506a8a80c114dca722b7715f1c94"),
    "Amazon_Fashion": (None, "2.5e6", 1_422_365_805, "629dde620a4001934a8af705f6e5514a1b2d349720c26876ee803b90051a62df", 1_051_324_731, "e597b3ce6cbb2f9994a32e0eee6bb04fdae50725f2d49c89f6baef1a7b986c57"),
    "Appliances": (None, "2.1e6", 285_298_475, "b25ae892af7bc452c4a54b7e4fee52f4c3e9adf058768ca3cb07ecb8d328b41e", 929_451_412, "d9dd03aa9be0c8e6fea66d8ce99a7e5b359e272d6323186c1aa80f6d36af1dab"),
    "Arts_Crafts_and_Sewing": (801_446, "9.0e6", 2_170_215_242, "b3dd463e900a76599494927a7e991a62660e4d5c47c3f6c4797e9dae9a65837b", 3_945_063_799, "e2f6698cdb0c1f712e38718e02efc1b74641c31bf6745be14af85583399e74df"),
    "Automotive": (None, "20.0e6", 5_345_616_548, "8399c5ab84b2a5239e105974a33fb5d1d6d5e1e643291713008c096240ef6941", 8_727_689_027, "5ca28ebd15a7e26f8bb3289d65e26784b39c9661d1f5dc030ecc9fef0211eced"),
    "Baby_Products": (None, "6.0e6", 691_003_271, "40250b693fc748cc0f24a5a2e762faa71e69aec4a9b934f625fd609f7cda6d7e", 2_947_785_967, "5ab12d566ebc1162d5a197721d4da787261e036455d054ad8d858af7380e0a45"),
    "Beauty_and_Personal_Care": (None, "23.9e6", 2_835_194_976, "c8a69eba6579f1a3a2b6d6d564846f3c59839d0c859ff180a63a97a245c3bec2", 11_021_458_876, "24f139d51014f50c052b69bdf5ca95e2e2656e80aabda2da3fdad29bb1931a53"),
    "Books": (None, "29.5e6", 14_697_581_022, "3b008960580e390874b6723d438a3df3558bc98b9547ed37c90dc1659109cec7", 20_121_186_727, "14f524701f3e6e850d938e09961675c397078eb7af06a99892af8fab811d5a0d"),
    "CDs_and_Vinyl": (None, "4.8e6", 948_861_684, "c52275a5bce63bf293f987bff5ff1f2b268982797545f3df2b7662ab638e8aec", 3_287_195_043, "4692a40ee4b9bcc5f7ee58edeffb211138e02641c3fdfd55f77843430cb34cbc"),
    "Cell_Phones_and_Accessories": (1_288_490, "20.8e6", 4_015_159_840, "f8f411a2e3a90560de4b18a0c2c885a4ba410bb26f965a8e7290080898d22688", 9_342_568_048, "bda42ca8d28a1e57db970c78703b7aaac9c9beb6595e1be00364a0a55a682cd5"),
    "Clothing_Shoes_and_Jewelry": (None, "66.0e6", 17_960_532_903, "e5ff908573938ee114e4f4dfcfc46799b0ead24a57a8c075fbca2e6e28d78382", 27_810_080_533, "150eb2a9e88f61cd5a89c5337cde437dc71308c47f22899a72d9e1dad60b7356"),
    "Digital_Music": (None, "130.4e3", 67_097_002, "7f5387e99b70631d919c87005269c555e8886ae9a60c4c59a9b6ed7881acbbec", 78_823_304, "9ac137137e55e34fce290670fdf44acee5afa2ffae541f4f3b366a835930a7c3"),
    "Electronics": (1_610_012, "43.9e6", 5_246_144_134, "5eb4dabd539586c49654297319ef178b62a2fe8e43108376feda125f04455d93", 22_616_233_652, "bf11cf9c94c23ead7d3ffb174d18231fad8fcd76e72ad167f538a5599a38de8e"),
    "Gift_Cards": (1_137, "152.4e3", 2_038_189, "7909903c85f0690b4ff653981724af1ea6473e7b21a7e32c7adae5026240808f", 50_231_035, "b7ceead0dd6378eebfc6f4736402f85cc08e8dcb328f813c95ca68fc62d9544e"),
    "Grocery_and_Gourmet_Food": (None, "14.3e6", 1_382_105_675, "ed9b24ea707f7010b5cb321462a8e896ad1fcd59620fbc55f05084c3da59842e", 5_973_991_903, "bd68ea63cd101de7a0f8ae53896a0ce6b4d1d61fdef63cc02fad303e5f1244c6"),
    "Handmade_Products": (164_817, "664.2e3", 399_261_431, "c47e8f247dab7ec1d2fac93050e79a40ad5d31c3fe073838af29694fc1690530", 289_025_980, "7576d7743e83806d155e506a6bce13c25d9979ab13522e9a1cf2dc593144e65c"),
    "Health_and_Household": (None, "25.6e6", 2_468_505_069, "1a26906c721929a04e887eb7aac560e58e0c4f0a65ec5b24a047a560a43f0bc1", 11_395_356_745, "e8256271e6d566745656cd946e200a43ad08ff5e046daacfc54535bfd95be4b4"),
    "Health_and_Personal_Care": (None, "494.1e3", 118_005_874, "eb7f147cac85ce22e6d9b63e8f8504e85032c8a666e8634a1f101a9533983c0a", 226_990_293, "b532849dcf8e42910ce688ad423b3c1622ce860e7bf88a3641358bb89f345d02"),
    "Home_and_Kitchen": (None, "67.4e6", 11_788_767_944, "691353084748d985180deb13dc8de59afe4969933ad3692ea06b80460510aa56", 31_408_889_188, "88f2ed8cda172b18201a9d8577ab461255b9ecec99581c1ee05c5e1b4105262b"),
    "Industrial_and_Scientific": (427_564, "5.2e6", 1_130_006_344, "114fcde36f6205bde5d0ebed24613a35e475aa06b285011ed1e892dc26da3942", 2_347_015_351, "361f68c9535f038fab119099e79207099bee60b2cd7a98246c36b3b12c7aa678"),
    "Kindle_Store": (None, "25.6e6", 6_865_237_738, "acdaba5f1fb83805a2bf032ba3c7ddb83c695b03d6c41b785a81070d3b66a145", 15_800_555_546, "82024e17fdd988f47d8b5ae679643965255ae5164f9f494d6ba28ab9cc0efa76"),
    "Magazine_Subscriptions": (None, "71.5e3", 4_096_541, "b325bc690a4b705338dfc3dd45ace5ec643dc6212cbb0c614a9b05f236ec12ab", 33_297_013, "bf36b04bbfb41f43c49b4adbdc13969014311ffb2344f706d13c35cdea5662da"),
    "Movies_and_TV": (None, "17.3e6", 1_285_744_674, "beb82feef266bfa6d2e279903fd823a8b3b9c065059e1048226d0b74dc16b47d", 8_391_445_499, "4eb7428d5f48baae5a7f1132ef556e6e98181b122085ac24b34b25e033c3130a"),
    "Musical_Instruments": (213_593, "3.0e6", 631_877_970, "96f40b5440918f07e3e08e84b7a6874a06a5e32a9988998ca9520cfd1b51a12c", 1_557_845_107, "63aee24d5b9eaf0069cf638703e2d62eb80fde5d2c00ca3d29881d645f6214b3"),
    "Office_Products": (None, "12.8e6", 2_146_468_843, "d9709095587ee34b2d5e639ca69de2a6fc8ab1953c467b86715e409c5ad78314", 5_776_792_834, "82cc49670098220a314d398ceff6434599b54c27af5fa00ab9c0b4af9d9d9011"),
    "Patio_Lawn_and_Garden": (None, "16.5e6", 2_714_096_874, "3a48d1328e6d1db8728764f124f64d35b7001a73d46beeaea5d390332a5afc8e", 7_748_207_348, "2923136d4013b1f728081ab42a488b8328164deb9b6a8e2efae8cf48ff7fe345"),
    "Pet_Supplies": (None, "16.8e6", 1_571_293_235, "69dfa0e6b34e8c34f5704fbf05682eb3edacac95d9b8e1fbf3f74720cbf67e50", 8_350_775_233, "ad9e71383eb02674a7514181bb3eb57eec36695ea2cd28143b70df5d1da72ee3"),
    "Software": (None, "4.9e6", 256_220_771, "7c52cce1bf3bff33f965fe117e3e8fac18a1839f88b215efa50b31a8230a5f58", 1_869_151_448, "dc119f99c466a39a09e2513c9e48eb5821fb42b1459f3026bcf71b08e6770741"),
    "Sports_and_Outdoors": (None, "19.6e6", 4_132_263_769, "321aba659220c48a8dcf2a4034f1eb965fae031941d81c9b7e47811caae85db9", 9_256_856_041, "47eaab08457fd7d270613f193506c479492b696a808ae5639a949b27026a4559"),
    "Subscription_Boxes": (None, "16.2e3", 1_399_864, "b29c7bb1e3ad1419c33142c76d39782a9b8ae2fcbe27641186b88a10e1f31575", 8_953_020, "52e08112faa2b8769b35d364cbd3b8ac674ddd56621b171e7531a5a2071f460f"),
    "Tools_and_Home_Improvement": (None, "27.0e6", 4_850_689_793, "7b0e1ab6275a055fd1337d94dca6029eb401c31e21496608192d6564c1f25b0b", 12_779_111_772, "7cfcd11fef2d6346d88eec96ca48e28225e4795b4e93e6a265114c22755a348b"),
    "Toys_and_Games": (890_874, "16.3e6", 2_637_909_430, "caca4bc34518426d45e2924d1042923d9d3cd89eb69f4daeb0b3a9c87e278a9a", 7_316_094_780, "2e6157468ea97963098fe6b14749eda8d16a4443e718dcf6cbd0726c781fd938"),
    "Unknown": (None, "63.8e6", 674_824_926, "be2ace4f62de51e041c838792d2fbe74a52487e8aca20f39fd729d1852e3a645", 29_933_791_334, "c1f58c580a747250877369b603e8959985b11ea079eddc88f66d1144e08d917b"),
    "Video_Games": (None, "4.6e6", 437_375_785, "3ad94dfaa8dfed23c5f420aa9ddec415d00f2b8ec9f2d796f487b4b2c4d256de", 2_682_948_518, "7bde9e0a039bdb321e993bfe78a6c7d438fb1504b1ad152c0cb6a33a8b7cb26a"),
}
# fmt: on
STATED = {category: each[:2] for category, each in _CATEGORIES.items()}


def _pin(path: str, size: int, sha256: str) -> dict[str, dict[str, Any]]:
    return {path: {"url": _URL + path, "size": size, "sha256": sha256}}


# Category -> its two files by their paths, each with its pin
SOURCES = {
    category: _pin(f"raw/meta_categories/meta_{category}.jsonl", *each[2:4])
    | _pin(f"raw/review_categories/{category}.jsonl", *each[4:])
    for category, each in _CATEGORIES.items()
}
