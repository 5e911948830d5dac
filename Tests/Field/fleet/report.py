"""What the pages of `reach report` and of one machine must be, for `look`."""

READY = "document.readyState == 'complete' && document.querySelector('main')"

CHECKS = {
    "one heading of the first level": "document.querySelectorAll('h1').length == 1",
    "every section has a heading, and its name":
        "[...document.querySelectorAll('section')].every((each) => each.querySelector('h2').id == "
        "each.getAttribute('aria-labelledby') && each.querySelector('h2').textContent.trim())",
    "every picture has a name, or words beside it": """[...document.querySelectorAll('svg')].every((each) =>
        each.getAttribute('role') == 'img' ? each.getAttribute('aria-label').trim()
            : each.getAttribute('aria-hidden') == 'true' && each.parentElement.textContent.trim())""",
    "every table has a caption and headings of columns and rows":
        "[...document.querySelectorAll('table')].every((each) => each.caption.textContent.trim() && "
        "each.querySelector('thead th[scope=col]') && [...each.querySelectorAll('tbody tr')].every((row) => "
        "row.querySelector('th[scope=row]')))",
    "every chart has a table":
        "[...document.querySelectorAll('section:has(.chart)')].every((each) => each.querySelector('table'))",
    "no identity is given twice":
        "new Set([...document.querySelectorAll('[id]')].map((each) => each.id)).size == document.querySelectorAll('[id]').length",
    "no style of an element, and nothing from elsewhere":
        "!document.querySelector('[style],img,iframe,object,embed,link[rel=stylesheet]') && "
        "performance.getEntriesByType('resource').every((each) => each.name.startsWith('data:'))",
    "nothing is wider than the page": "document.documentElement.scrollWidth <= innerWidth + 1",
    "every text is large enough to read":
        "[...document.querySelectorAll('body *')].every((each) => ![...each.childNodes].some((node) => node.nodeType == 3 && "
        "node.data.trim()) || !each.getClientRects().length || parseFloat(getComputedStyle(each).fontSize) >= "
        "(matchMedia('print').matches ? 10 : 12))",
    "every label is within the page": """[...document.querySelectorAll('.axis span,.ends span,.key span,.day span,.legend li')].every(
        (each) => { const label = each.getBoundingClientRect(); return label.left >= 0 && label.right <= innerWidth + 1; })""",
    "every shape of a strip is seen": """[...document.querySelectorAll('.strip>path,.sample>path')].every((each) => {
        const shape = each.getBoundingClientRect(); return shape.height >= 1 && shape.width >= 1; })""",
}

# The contrast of WCAG 2.1 between each text and what is behind it.
CONTRAST = """(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const channels = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data]; };
    const luminance = (colour) => { const [r, g, b] = channels(colour).map((each) => { const c = each / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const ground = (node) => { for (; node; node = node.parentElement) {
        const colour = getComputedStyle(node).backgroundColor; if (channels(colour)[3] > 0) return colour; } return 'white'; };
    const bad = new Set();
    for (const node of document.querySelectorAll('h1,h2,h3,h3 span,p,p span,b,th,td,code,dt,dd,summary,li,small,time,.axis span,.day span')) {
        const style = getComputedStyle(node);
        const text = luminance(node instanceof SVGElement ? style.fill : style.color), behind = luminance(ground(node));
        const ratio = (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
        if (ratio < 4.5) bad.add(node.localName + ' ' + ratio.toFixed(2));
    }
    return [...bad].join(', ');
})()"""


def check(page, has_script=False):
    """Returns sentences about what is wrong."""
    faults = [f"not so: {what}" for what, expression in CHECKS.items() if not page.evaluate(f"Boolean({expression})")]
    scripts = page.evaluate("document.querySelectorAll('script').length")
    if scripts != has_script:
        faults.append(f"it has {scripts} scripts")
    poor = page.evaluate(CONTRAST)
    if poor:
        faults.append("too little contrast: " + poor)
    return faults
