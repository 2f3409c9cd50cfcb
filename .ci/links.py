"""Holds every link of a site that is made to its own pages: the file is there, and so is the anchor.

Usage: python3 .ci/links.py SITE
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        self.links |= {found[key] for key in ("href", "src") if found.get(key)}


def main(site):
    # Reports and the explorer are pages by themselves; mdBook's print page repeats all others.
    paths = [path for path in sorted(site.rglob("*.html")) if path.name not in ("print.html", "404.html", "toc.html")]
    pages = {path: Page(path) for path in paths}
    wrong, count = [], 0
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            count += 1
            start = site if parts.path.startswith("/") else path.parent
            to = (start / urllib.parse.unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            anchor = urllib.parse.unquote(parts.fragment)
            if not to.exists() or not to.is_relative_to(site):
                wrong.append(f"{path.relative_to(site)}: {link}: there is no such file")
            elif anchor and to in pages and anchor not in pages[to].anchors:
                wrong.append(f"{path.relative_to(site)}: {link}: there is no such heading")
    print(f"{count} links of {len(pages)} pages")
    if wrong:
        sys.exit("\n".join(wrong))
    if count < 200:
        sys.exit("fewer than 200 were found")


main(pathlib.Path(sys.argv[1]).resolve())
