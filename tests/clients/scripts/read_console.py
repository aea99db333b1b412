"""Log in to the console with a browser, and print its table of tenants and an account, as JSON.

It runs in the environment of Open WebUI, which has Playwright, with the system's Chromium.
"""

from __future__ import annotations

import json
import sys

from playwright.sync_api import Page, sync_playwright

SECONDS = 90.0  # only a hang reaches it


def read_table(page: Page) -> dict[str, dict[str, str]]:
    """Return the rows of the overview by tenant: cells by their column's title."""
    table = page.get_by_role("group", name="Tenants")
    titles = [title.strip(" ▲▼") for title in table.locator("thead th").all_inner_texts()]
    rows = [row.locator("th, td").all_inner_texts() for row in table.locator("tbody tr").all()]
    return {cells[0]: dict(zip(titles, cells, strict=True)) for cells in rows}


def main() -> None:
    """Read the overview, then the account of each tenant named."""
    browser_path, root, key, *tenants = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(SECONDS * 1000)
        page.goto(f"{root}/console/")
        page.get_by_label("Client key").fill(key)
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("link", name="Budgets", exact=True).click()
        table = read_table(page)
        accounts = {}
        for tenant in tenants:
            page.get_by_role("link", name=tenant, exact=True).click()
            page.get_by_role("heading", name="Limits").wait_for()
            accounts[tenant] = page.locator("main").inner_text()
            page.go_back()
        browser.close()
    print(json.dumps({"table": table, "accounts": accounts}))


if __name__ == "__main__":
    main()
