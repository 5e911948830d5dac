/// The styles of a report; ``HTMLPage`` has its colours.
enum ReportStyles {
    static let text = """
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:1000px;padding:20px;background:var(--bg);color:var(--text);
        font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums}
        h1{font-size:24px;margin:0}h2{font-size:18px;margin:0 0 10px}h3{font-size:15px;margin:18px 0 6px;overflow-wrap:anywhere}
        h3 span{font-weight:400;color:var(--muted)}
        p{margin:6px 0}header{margin-bottom:18px}
        section{background:var(--surface);border:1px solid var(--line);border-radius:10px;padding:16px 18px;margin-bottom:16px}
        .tiles{display:flex;flex-wrap:wrap;gap:8px 34px;margin:0 0 14px}
        .tiles div{display:flex;flex-direction:column-reverse}
        .tiles dt{color:var(--muted);overflow-wrap:anywhere}.tiles dd{margin:0;font-size:26px;line-height:1.2;font-weight:650}
        .wide{overflow-x:auto}
        :focus-visible{outline:2px solid var(--accent);outline-offset:2px}
        table{border-collapse:collapse;width:100%;font-size:14px}
        caption{text-align:left;color:var(--muted);padding-bottom:6px}
        th,td{text-align:left;vertical-align:top;padding:5px 12px 5px 0;border-top:1px solid var(--line);overflow-wrap:break-word}
        thead th{border-top:0;color:var(--muted);font-weight:600}
        tbody th{font-weight:550}
        th.n,td.n{text-align:right;white-space:nowrap}
        td:last-child,th:last-child{padding-right:0}
        code{font:13px ui-monospace,monospace}
        summary{cursor:pointer;color:var(--muted);padding:6px 0}
        svg{display:block;width:100%;height:auto;margin:6px 0 2px}
        svg text{fill:var(--muted);font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
        svg .grid{stroke:var(--line)}
        .up{fill:var(--idle)}.down{fill:var(--c2)}.unknown{fill:url(#hatch)}.absent{fill:none;stroke:var(--line)}
        .hatch{stroke:var(--c1);stroke-width:2}
        .p50{stroke:var(--accent)}.p90{stroke:var(--c1)}.p99{stroke:var(--c3)}
        .p50,.p90,.p99{fill:none;stroke-width:2;stroke-linejoin:round}
        .p90{stroke-dasharray:7 3}.p99{stroke-dasharray:2 3}
        circle.p50{fill:var(--accent)}circle.p90{fill:var(--c1)}circle.p99{fill:var(--c3)}
        .lost{fill:var(--c2)}
        .band{fill:var(--idle);opacity:.45}.m0,.m1,.m2{fill:none;stroke-width:3}
        .m0{stroke:var(--accent)}.m1{stroke:var(--c1)}.m2{stroke:var(--c2)}
        @media print{body{max-width:none;padding:0;background:none;font-size:11px}section{border:0;padding:0 0 8px;margin:0}
        h2,h3,svg,tr{break-inside:avoid}h2,h3{break-after:avoid}table{font-size:10px}code{font-size:10px}
        details:not([open]){display:none}.wide{overflow:visible}
        .up,.down,.lost,.unknown{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
        @page{margin:14mm}

        """
}
