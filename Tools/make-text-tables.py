#!/usr/bin/env python3
"""Makes Sources/CTextTables/text_tables.c, by which texts are folded for a search.

  Tools/make-text-tables.py [FOLDER]

FOLDER is where the files of the Unicode character database are; without it, /usr/share/unicode,
where the Debian package unicode-data has them (15.0.0-1 made the files that are committed). Nothing
else needs the package: the result is part of the repository.
"""

import re
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode")
OUTPUT = Path(__file__).parent.parent / "Sources/CTextTables/text_tables.c"

# Entries: below FIRST_POOLED an index of a record, from there on an offset in the pool.
FIRST_POOLED = 0x400
# Scalars from here on stand for themselves, but for one range of compatibility ideographs, whose
# entries follow, and one that stands for nothing.
LIMIT = 0x20000
IDEOGRAPHS = range(0x2F800, 0x2FA20)
IGNORED_PLANE = range(0xE0000, 0xE1000)
# Flags of records, behind eight bits of combining class.
JOINS, ATTACHES, IS_MARK, DELTA_SHIFT = 1 << 8, 1 << 9, 1 << 10, 11
# Flags of pooled expansions, behind six bits of length.
POOL_UNORDERED, POOL_JOINS = 1 << 6, 1 << 7
IOTA_SUBSCRIPT = 0x345


def rows(name):
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        fields = [field.strip() for field in line.split("#")[0].split(";")]
        if len(fields) > 1:
            yield fields


def scalars(field):
    first, _, last = field.partition("..")
    return range(int(first, 16), int(last or first, 16) + 1)


def version():
    return re.search(r"-(\d+\.\d+\.\d+)\.txt", (FOLDER / "CaseFolding.txt").read_text()).group(1)


# --- The database

combining_class, category, mapping, canonical, names = {}, {}, {}, {}, {}
for fields in rows("UnicodeData.txt"):
    scalar = int(fields[0], 16)
    names[fields[1]] = scalar
    category[scalar] = fields[2]
    if fields[3] != "0":
        combining_class[scalar] = int(fields[3])
    if fields[5]:
        parts = fields[5].split()
        if parts[0][0] == "<":
            mapping[scalar] = [int(part, 16) for part in parts[1:]]
        else:
            mapping[scalar] = canonical[scalar] = [int(part, 16) for part in parts]

folding = {}
for fields in rows("CaseFolding.txt"):
    if fields[1] in "CF":
        folding[int(fields[0], 16)] = [int(part, 16) for part in fields[2].split()]

excluded, ignorable, expected = set(), set(), {}
for fields in rows("DerivedNormalizationProps.txt"):
    if fields[1] == "Full_Composition_Exclusion":
        excluded.update(scalars(fields[0]))
    elif fields[1] == "NFKC_CF":
        for scalar in scalars(fields[0]):
            expected[scalar] = [int(part, 16) for part in fields[2].split()]
for fields in rows("DerivedCoreProperties.txt"):
    if fields[1] == "Default_Ignorable_Code_Point":
        ignorable.update(scalars(fields[0]))

# No letter is composed with an iota subscript: folding makes a letter of its own of it.
pairs = {
    tuple(parts): scalar for scalar, parts in canonical.items()
    if scalar not in excluded and parts[1:] != [IOTA_SUBSCRIPT]
}

# --- Normal forms


def decomposed(scalar, mappings):
    if 0xAC00 <= scalar < 0xD7A4:
        index = scalar - 0xAC00
        parts = [0x1100 + index // 588, 0x1161 + index % 588 // 28]
        return parts + ([0x11A7 + index % 28] if index % 28 else [])
    if scalar not in mappings:
        return [scalar]
    return [part for one in mappings[scalar] for part in decomposed(one, mappings)]


def ordered(text):
    result, marks = [], []
    for scalar in text:
        if combining_class.get(scalar, 0) == 0:
            result += sorted(marks, key=combining_class.get) + [scalar]
            marks = []
        else:
            marks.append(scalar)
    return result + sorted(marks, key=combining_class.get)


def pair(first, second):
    if 0x1100 <= first < 0x1113 and 0x1161 <= second < 0x1176:
        return 0xAC00 + ((first - 0x1100) * 21 + second - 0x1161) * 28
    if 0xAC00 <= first < 0xD7A4 and (first - 0xAC00) % 28 == 0 and 0x11A7 < second < 0x11C3:
        return first + second - 0x11A7
    return pairs.get((first, second))


def composed(text):
    result, starter, last = [], None, None
    for scalar in ordered(one for whole in text for one in decomposed(whole, canonical)):
        number = combining_class.get(scalar, 0)
        if starter is not None and (last is None or last < number and last != 0):
            whole = pair(result[starter], scalar)
            if whole is not None:
                result[starter] = whole
                continue
        if number == 0:
            starter, last = len(result), None
        else:
            last = number
        result.append(scalar)
    return result


# --- Folding

# Kana that have a partner by their names: hiragana is written as katakana, where every letter has a
# voiced form of its own.
katakana = {
    scalar: names[name.replace("HIRAGANA", "KATAKANA", 1)]
    for name, scalar in names.items()
    if name.startswith("HIRAGANA") and name.replace("HIRAGANA", "KATAKANA", 1) in names
    and scalar not in mapping
}
# The voiced ones, whose decomposition begins with hiragana.
katakana.update({
    scalar: names[name.replace("HIRAGANA", "KATAKANA", 1)]
    for name, scalar in names.items()
    if name.startswith("HIRAGANA") and scalar in canonical
})
# Spacing voiced marks are those of the letter before, as their half-width forms are.
voiced = {0x309B: [0x3099], 0x309C: [0x309A]}


def folded(scalar, kana):
    """NFKC_Casefold of one scalar, but that a iota subscript stays one until it has its place."""
    text = [scalar]
    while True:
        old = text
        if kana:
            text = [part for one in text for part in voiced.get(one, [one])]
        text = [part for one in text for part in decomposed(one, mapping)]
        text = [
            part for one in text if one not in ignorable
            for part in ([one] if one == IOTA_SUBSCRIPT else folding.get(one, [one]))
        ]
        if kana:
            text = [katakana.get(one, one) for one in text]
        if ordered(text) == ordered(old):
            return composed(text)


def with_iota(text):
    return composed([0x3B9 if one == IOTA_SUBSCRIPT else one for one in text])


# Those that the rule was made for have the value that the database says.
for scalar in range(0x110000):
    if not 0xD800 <= scalar < 0xE000:
        assert with_iota(folded(scalar, False)) == expected.get(scalar, [scalar]), hex(scalar)

# Classes of marks that are composed with letters; the others are points, vowels and tones of
# scripts that write them or not, or begin the next letter.
composing_classes = {
    combining_class.get(second, 0) for first, second in pairs if category[first][0] == "L"
} - {0}
assert composing_classes - {7, 8} and min(composing_classes - {7, 8}) >= 200


def attaches(scalar):
    number = combining_class.get(scalar, 0)
    is_jamo = 0x1160 <= scalar < 0x1200 or 0xD7B0 <= scalar < 0xD7FC
    return is_jamo or number in (1, 7, 8) or number >= 200


def is_mark(scalar):
    number = combining_class.get(scalar, 0)
    if category.get(scalar) == "Me":
        return True
    return category.get(scalar) == "Mn" and (number == 1 or 10 <= number < 40 or number >= 200)


seconds = {second for _, second in pairs}


def joins(scalar):
    return scalar in combining_class or scalar in seconds or attaches(scalar) or is_mark(scalar)


# --- Tables

records, pool, pooled, folds, users = {0: 0}, bytearray(), {}, {}, {}
for scalar in range(0x110000):
    if 0xD800 <= scalar < 0xE000:
        continue
    text = folded(scalar, True)
    if scalar >= LIMIT and scalar not in IDEOGRAPHS:
        assert text == ([] if scalar in IGNORED_PLANE else [scalar]), hex(scalar)
        continue
    folds[scalar] = text
    if len(text) == 1:
        users[text[0] - scalar] = users.get(text[0] - scalar, 0) + 1


def record(source, target):
    delta = target - source
    assert -(1 << 20) <= delta < 1 << 20
    flags = combining_class.get(target, 0)
    flags |= JOINS if joins(target) else 0
    flags |= ATTACHES if attaches(target) else 0
    flags |= IS_MARK if is_mark(target) else 0
    value = flags | (delta & (1 << 21) - 1) << DELTA_SHIFT
    return records.setdefault(value, len(records))


def expansion(text):
    encoded = "".join(map(chr, text)).encode()
    assert len(encoded) < 64
    head = len(encoded)
    head |= POOL_JOINS if not text or joins(text[0]) else 0
    head |= POOL_UNORDERED if IOTA_SUBSCRIPT in text else 0
    key = bytes([head]) + encoded
    if key not in pooled:
        pooled[key] = FIRST_POOLED + len(pool)
        pool.extend(key)
    return pooled[key]


ignored = expansion([])
entries = []
for scalar in [*range(LIMIT), *IDEOGRAPHS]:
    text = folds.get(scalar, [scalar])
    # A record serves all scalars with one distance; those that are alone with theirs are pooled.
    if len(text) == 1 and (joins(text[0]) or users[text[0] - scalar] > 1):
        entries.append(record(scalar, text[0]))
    else:
        entries.append(expansion(text))
assert len(records) < FIRST_POOLED and FIRST_POOLED + len(pool) < 0x10000


def staged(shift):
    blocks, stage = {}, []
    for start in range(0, len(entries), 1 << shift):
        block = tuple(entries[start:start + (1 << shift)])
        stage.append(blocks.setdefault(block, len(blocks)))
    return stage, blocks, 1 if len(blocks) <= 256 else 2


def size(shift):
    stage, blocks, width = staged(shift)
    return width * len(stage) + 2 * len(blocks) * (1 << shift)


shift = min(range(4, 6), key=size)
stage, blocks, width = staged(shift)
flat = [entry for block in blocks for entry in block]
composites = sorted((second, first, whole) for (first, second), whole in pairs.items())
order = sorted(range(len(composites)), key=lambda index: composites[index][2])
total = (size(shift) + 4 * len(records) + len(pool) + 14 * len(composites))


def array(kind, name, values):
    lines, line = [], " "
    for value in values:
        word = f" {value},"
        if len(line) + len(word) > 100:
            lines.append(line)
            line = " "
        line += word
    return f"const {kind} {name}[{len(values)}] = {{\n" + "\n".join(lines + [line]) + "\n};\n"


macros = {
    "CTEXT_FIRST_POOLED": FIRST_POOLED, "CTEXT_IGNORED": ignored, "CTEXT_LIMIT": LIMIT,
    "CTEXT_IDEOGRAPHS": IDEOGRAPHS.start, "CTEXT_IDEOGRAPHS_END": IDEOGRAPHS.stop,
    "CTEXT_IGNORED_PLANE": IGNORED_PLANE.start, "CTEXT_IGNORED_PLANE_END": IGNORED_PLANE.stop,
    "CTEXT_SHIFT": shift, "CTEXT_STAGE_COUNT": len(stage), "CTEXT_BLOCK_COUNT": len(flat),
    "CTEXT_RECORD_COUNT": len(records), "CTEXT_POOL_COUNT": len(pool),
    "CTEXT_PAIR_COUNT": len(composites),
}
OUTPUT.write_text(
    f"// Made by Tools/make-text-tables.py from the Unicode character database {version()}.\n"
    f"// {total} bytes. Do not edit.\n\n#include \"CTextTables.h\"\n\n"
    + "\n".join([
        array(f"uint{8 * width}_t", "ctext_stage", stage),
        array("uint16_t", "ctext_blocks", flat),
        array("uint32_t", "ctext_records", list(records)),
        array("uint8_t", "ctext_pool", list(pool)),
        array("uint32_t", "ctext_pairs", [part for row in composites for part in row]),
        array("uint16_t", "ctext_pairs_by_whole", order),
    ]))
(OUTPUT.parent / "include/text_table_sizes.h").write_text(
    "// Made by Tools/make-text-tables.py. Do not edit.\n\n#ifndef TEXT_TABLE_SIZES_H\n"
    "#define TEXT_TABLE_SIZES_H\n\n"
    f'#define CTEXT_UNICODE_VERSION "{version()}"\n'
    f"typedef uint{8 * width}_t ctext_stage_number;\n"
    + "".join(f"#define {name} {value}\n" for name, value in macros.items())
    + "\n#endif\n")
print(f"{total} bytes: shift {shift}, {len(blocks)} blocks, {len(records)} records,"
      f" {len(pool)} pooled, {len(composites)} pairs; classes {sorted(composing_classes)}")
