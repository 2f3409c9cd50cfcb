"""Holds every `ileave …` command in the code blocks of the README and docs/ to the command itself.

Usage: python3 .ci/commands.py COMMAND

Each is parsed: its subcommand, its flags and their values. Those that take no time and no files are run. What docs/questions.md
and docs/guide.md ask is run by .ci/run and by a test.
"""

import pathlib
import shlex
import subprocess
import sys

# They answer at once, and write nothing.
CHEAP = {"map", "risk", "keys", "hosts", "controllers"}
# A shell ends a command with these.
ENDS = {"|", ">", ">>", "&&", ";", "2>&1"}


def commands(page):
    """The words of each command in the page's code blocks, with the line that it stands on."""
    is_code, begun = False, ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code, begun = not is_code, ""
            continue
        text = begun + line.strip().removeprefix("$ ").removeprefix("sudo ")
        begun = ""
        if not is_code or not text.startswith("ileave "):
            continue
        if text.endswith("\\"):
            begun = text[:-1]
            continue
        try:
            words = shlex.split(text, comments=True)
        except ValueError:
            # Prose in an output, such as an apostrophe.
            continue
        ends = [place for place, word in enumerate(words) if word in ENDS]
        yield number, words[1 : min(ends, default=len(words))]


def is_prose(words, known):
    """An output may begin with the name, too: "ileave answers how …"."""
    return not words or (words[0] not in known and not words[0].startswith("-"))


def main(program):
    listed = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    known = {line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line.split()}
    root = pathlib.Path(__file__).parent.parent
    wrong, parsed, ran = [], 0, 0
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        for number, words in commands(page):
            if is_prose(words, known):
                continue
            # Whatever stands before `--help` is parsed before it is obeyed.
            own = words.index("--") if "--" in words else len(words)
            asked = [program, *words[:own], "--help"]
            tried = [asked]
            if words[0] in CHEAP:
                tried.append([program, *words])
            for command in tried:
                done = subprocess.run(command, capture_output=True, text=True, cwd=root, timeout=60)
                if done.returncode != 0:
                    said = done.stderr.strip().splitlines()[:1]
                    wrong.append(f"{page.relative_to(root)}:{number}: ileave {' '.join(words)}: {' '.join(said)}")
                    break
            parsed += 1
            ran += len(tried) - 1
    print(f"{parsed} commands of the docs are commands of ileave; {ran} were run")
    if wrong:
        sys.exit("\n".join(wrong))
    if parsed < 50:
        sys.exit("fewer than 50 were found: does a page have another form of code blocks?")


main(str(pathlib.Path(sys.argv[1]).resolve()))
