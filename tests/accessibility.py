"""Barriers for people with a phone, a keyboard, a screen reader, or who prefer dark pages.

The rules are those of axe-core: contrast of colours, texts of images, order of headings, names of
fields and tables, what the keyboard reaches.
"""

from axe_selenium_python import Axe

_SCREEN = {"height": 800, "deviceScaleFactor": 1, "mobile": True}


def problems(browser, address: str, least: tuple[str, ...] = (), *, width: int = 380) -> list[str]:
    """Rules that a page breaks in a window (default a phone's), in light and in dark colours.

    ``least`` are the weights that count (critical, serious, ...), all where there are none.
    """
    found = set()
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**_SCREEN, "width": width})
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get(address)
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        if browser.execute_script(wide) > 0:
            found.add("the page scrolls to the side")
        axe = Axe(browser)
        axe.inject()
        for broken in axe.run()["violations"]:
            if not least or broken["impact"] in least:
                nodes = [node["html"][:80] for node in broken["nodes"][:3]]
                found.add(f"{broken['id']} ({broken['impact']}, {scheme}): {nodes}")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    return sorted(found)
