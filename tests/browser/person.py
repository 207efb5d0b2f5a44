"""A person at the page, in a real Chromium: goes to views, looks, clicks and types."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from browser.pictures import save
from patience import PATIENCE

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update", "--no-first-run"),
    *("--force-color-profile=srgb", "--hide-scrollbars", "--lang=en-GB"),
)


def installed() -> tuple[str, str] | None:
    """Chromium and its driver, if both are there; nothing is ever downloaded."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


class Person:
    """Somebody with a browser of their own."""

    def __init__(self, address: str, width: int = 1280, height: int = 900) -> None:
        browser, driver = installed() or ("", "")
        options = Options()
        options.binary_location = browser
        for flag in (*FLAGS, f"--window-size={width},{height}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(driver))
        self.address = address.rstrip("/")
        self.size(width, height)

    def leave(self) -> None:
        self.driver.quit()

    def size(self, width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def colours(self, scheme: str) -> None:
        """Light or dark, and nothing that moves: a colour on its way to another has no contrast."""
        wanted = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})

    def go(self, view: str, **told: str) -> None:
        """To a view, as if the page were opened anew."""
        query = f"?{urlencode(told)}" if told else ""
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}/#/{view}{query}")
        self.sees(f".view-{view}")

    def run(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(script, *given)

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def sees(self, css: str, text: str = "") -> WebElement:
        """An element with this text, as soon as it is there."""

        def found() -> WebElement | None:
            shown = (one for one in self.all(css) if one.is_displayed())
            return next((one for one in shown if text in one.text), None)

        return self.until(found, f"{css} with {text!r}")

    def until(self, look: Callable[[], Any], what: str) -> Any:
        """What `look` gives, as soon as it is something."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                if found := look():
                    return found
            except StaleElementReferenceException:
                pass
            if time.monotonic() > end:
                raise AssertionError(f"did not come to see {what}; the page says: {self.says()}")
            time.sleep(0.05)

    def says(self) -> str:
        return str(self.run("return document.body.innerText"))[:2000]

    def button(self, text: str, inside: str = "main") -> WebElement:
        return self.sees(f"{inside} button", text)

    def clicks(self, text: str) -> None:
        """A button that the page may draw anew at any time."""

        def clicked() -> bool:
            self.button(text).click()
            return True

        self.until(clicked, f"a button {text!r} that stays")

    def writes(self, css: str, text: str) -> None:
        """Into a field, in place of what was there, and on to the next one."""
        self.sees(css).send_keys(Keys.CONTROL, "a")
        self.sees(css).send_keys(text, Keys.TAB)

    def presses(self, *keys: str) -> None:
        """On the keyboard, wherever the focus is."""
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def focus(self) -> str:
        """What a screen reader would call what has the focus."""
        return str(
            self.run(
                "const e = document.activeElement;"
                "return e.getAttribute('aria-label') || e.innerText || e.value || e.tagName"
            )
        )

    def log(self) -> list[str]:
        """What the console has to complain about since the last time."""
        found = self.driver.get_log("browser")
        return [one["message"] for one in found if one["level"] in ("SEVERE", "WARNING")]

    def cells(self) -> list[list[str]]:
        """The cells on the board of a key."""
        script = """
        return [...document.querySelectorAll(".cell-box[data-cell]")].map((box) =>
          [...box.querySelectorAll("[data-chip]")].map((chip) => chip.dataset.chip))"""
        return [list(cell) for cell in self.run(script)]

    def marks(self) -> dict[str, str]:
        """The colour of each template in the text."""
        script = """
        return Object.fromEntries([...document.querySelectorAll(".mark")].map((mark) => [
          mark.dataset.template,
          [...mark.classList].find((name) => /^cell-/.test(name)) ?? ""]))"""
        return dict(self.run(script))

    def names(self) -> list[dict[str, str]]:
        """Every control with its role and the name that a screen reader gives it."""
        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        tree = self.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})
        kinds = {"button", "link", "textbox", "searchbox", "combobox", "radio", "spinbutton"}
        kinds |= {"checkbox", "image", "progressbar", "navigation", "region", "tooltip"}
        return [
            {"role": one["role"]["value"], "name": one.get("name", {}).get("value", "")}
            for one in tree["nodes"]
            if not one.get("ignored") and one.get("role", {}).get("value") in kinds
        ]

    def picture(self, path: Path, tallest: int = 1400) -> None:
        """The whole page as it is now."""
        width = int(self.run("return innerWidth"))
        height = int(self.run("return document.documentElement.scrollHeight"))
        self.size(width, max(500, min(height, tallest)))
        time.sleep(0.2)  # drawings fit themselves to their room
        save(self.driver, path)

    def store(self) -> dict[str, str]:
        """What the browser keeps for this page."""
        return dict(json.loads(self.run("return JSON.stringify({...localStorage})")))
