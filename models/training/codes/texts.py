# SPDX-License-Identifier: LGPL-2.1-or-later
# How many EAN and UPC codes of real pictures the program reads right, and how many wrong ones it calls checked:
#   texts.py LIST [SIGHTLINE] [-- OPTIONS OF PREDICT]
# A line of LIST is a picture's path, a tab, and the text of its code; of several codes in one picture their texts, each behind a tab. A code of thirteen
# digits that begins with a zero is that of the other twelve. In a build folder, under `meson devenv`.
import sys

from real import predict

SYMBOLOGIES = ('ean-13', 'ean-8', 'upc-a', 'upc-e')


def plain(text):
    return text[1:] if len(text) == 13 and text[0] == '0' else text


def truths(path):
    """{picture: texts of its codes}"""
    with open(path) as file:
        cells = [line.rstrip('\n').split('\t') for line in file if line.strip()]
    for row in cells:
        if len(row) < 2:
            raise SystemExit(f'texts.py: {path}: expected a picture, a tab and its text, got: {row[0]}')
    return {row[0]: {plain(text) for text in row[1:]} for row in cells}


def main():
    cut = sys.argv.index('--') if '--' in sys.argv else len(sys.argv)
    given, options = sys.argv[1:cut], sys.argv[cut + 1:]
    if len(given) not in (1, 2):
        raise SystemExit('usage: texts.py LIST [SIGHTLINE] [-- OPTIONS OF PREDICT]; a line of LIST is a picture, a tab and the text of its code')
    known = truths(given[0])
    found = predict(given[1] if len(given) > 1 else 'sightline', options, list(known))
    right = checked = wrong = wrong_checked = 0
    for picture, texts in known.items():
        codes = [o['code'] for o in found.get(picture, []) if o.get('code', {}).get('symbology') in SYMBOLOGIES]
        good = [c for c in codes if plain(c['text']) in texts]
        bad = [c for c in codes if plain(c['text']) not in texts]
        right += bool(good)
        checked += any(c['checked'] for c in good)
        wrong += len(bad)
        wrong_checked += sum(c['checked'] for c in bad)
        for code in bad:
            print(f'{picture}: read {code["text"]}, checked {code["checked"]}; expected {" or ".join(sorted(texts))}')
    print(f'{len(known)} pictures, {right} read right ({right / len(known):.1%}), {checked} of them checked')
    print(f'{wrong} wrong texts, {wrong_checked} of them checked ({wrong_checked / max(checked + wrong_checked, 1):.2%} of what is checked)')


if __name__ == '__main__':
    main()
