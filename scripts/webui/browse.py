"""Chat in Open WebUI with a browser, and print what is shown, as JSON.

It runs in the environment of Open WebUI, which has Playwright, with the system's Chromium.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

SIZE = ViewportSize(width=1000, height=620)
SECONDS = 90.0  # only a hang reaches it
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")


def sign_in(page: Page, email: str, password: str) -> None:
    """Fill in the form that Open WebUI begins with."""
    page.locator("#email").fill(email)
    page.locator("#password").fill(password)
    page.locator("button[type=submit]").click()


def set_switch(page: Page, name: str, *, on: bool) -> None:
    """Turn a filter's switch on or off in the menu of the message box."""
    page.get_by_label("Integrations", exact=True).first.click()
    item = page.get_by_role("menuitemcheckbox", name=name)
    item.wait_for()
    if (item.get_attribute("aria-checked") == "true") != on:
        item.click()
    page.keyboard.press("Escape")
    item.wait_for(state="hidden")


def ask(page: Page, text: str) -> dict[str, str]:
    """Send a message; return what is shown as its answer, and all that the page shows."""
    page.locator("#chat-input").click()
    page.keyboard.insert_text(text)
    page.keyboard.press("Enter")
    answer = page.locator("[id^='message-']").nth(1)
    # The buttons below an answer come when it is whole; an error has them, too.
    answer.get_by_label("Copy").last.wait_for()
    page.wait_for_timeout(1500)  # status and sources are drawn
    page.locator("[data-sonner-toast]").first.wait_for(state="detached")
    return {"shown": answer.inner_text(), "page": page.locator("body").inner_text()}


def open_source(page: Page) -> str:
    """Open the source below the answer, and return its text."""
    page.get_by_text("1 Source").first.click()
    page.get_by_text("What left").first.click()
    dialog = page.get_by_role("dialog").last
    dialog.wait_for()
    page.wait_for_timeout(1000)  # it fades in
    return str(dialog.inner_text())


def main() -> None:
    """Ask one question, and take a picture."""
    parser = argparse.ArgumentParser(description="Ask one question in Open WebUI.")
    parser.add_argument("browser", help="path of Chromium")
    parser.add_argument("address")
    parser.add_argument("question")
    parser.add_argument("--sign-in", nargs=2, metavar=("EMAIL", "PASSWORD"))
    parser.add_argument("--switch", help="name of the switch to turn on")
    parser.add_argument("--source", action="store_true", help="open the source of the answer")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.browser, args=ARGUMENTS)
        page = browser.new_page(viewport=SIZE, locale="en-US", reduced_motion="reduce")
        page.set_default_timeout(SECONDS * 1000)
        page.goto(options.address)
        if options.sign_in:
            sign_in(page, *options.sign_in)
        page.locator("#chat-input").wait_for()
        if options.switch:
            set_switch(page, options.switch, on=True)
        seen = ask(page, options.question)
        page.mouse.move(0, 0)
        if options.picture:
            page.screenshot(path=options.picture)
        if options.source:
            seen["source"] = open_source(page)
            if options.picture:
                page.screenshot(path=options.picture)
        browser.close()
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
