/// The styles that documents of sections share: reports, and the page of one machine. ``HTMLPage`` has the colours.
package enum HTMLStyles {
    package static let document = """
        *{box-sizing:border-box}
        body{margin:0 auto;max-width:1040px;padding:20px;background:var(--bg);color:var(--text);
        font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;\
        font-variant-numeric:tabular-nums}
        h1{font-size:24px;line-height:1.25;margin:0;overflow-wrap:anywhere}
        h2{font-size:18px;margin:0 0 10px;overflow-wrap:anywhere}
        h3{font-size:15px;margin:18px 0 6px;overflow-wrap:anywhere}
        h3 span{font-weight:400;color:var(--muted)}
        p{margin:6px 0;overflow-wrap:anywhere}header{margin-bottom:18px}
        section{background:var(--surface);border:1px solid var(--line);border-radius:10px;padding:16px 18px;\
        margin-bottom:16px}
        .tiles{display:flex;flex-wrap:wrap;gap:8px 34px;margin:0 0 14px}
        .tiles div{display:flex;flex-direction:column-reverse;min-width:0}
        .tiles dt{color:var(--muted);overflow-wrap:anywhere}
        .tiles dd{margin:0;font-size:26px;line-height:1.2;font-weight:650;overflow-wrap:anywhere}
        .wide{overflow-x:auto}
        :focus-visible{outline:2px solid var(--accent);outline-offset:2px}
        table{border-collapse:collapse;width:100%;font-size:14px}
        caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
        .caption{color:var(--muted);margin:0 0 6px;font-size:14px}
        th,td{text-align:left;vertical-align:top;padding:5px 12px 5px 0;border-top:1px solid var(--line);\
        overflow-wrap:break-word}
        thead th{border-top:0;color:var(--muted);font-weight:600}
        tbody th{font-weight:550}
        th.n,td.n{text-align:right;white-space:nowrap}
        td:last-child,th:last-child{padding-right:0}
        code{font:13px ui-monospace,monospace}
        summary{cursor:pointer;color:var(--muted);padding:6px 0}
        svg{display:block}
        .strip{width:100%;height:26px}
        .up{fill:var(--idle)}.down{fill:var(--lost)}.unknown{fill:var(--c1)}.absent{fill:var(--muted)}\
        .hint{fill:transparent}
        .ends{display:flex;justify-content:space-between;gap:12px;color:var(--muted);font-size:13px;margin:2px 0}\
        .ends span:last-child{text-align:right}
        .legend{display:flex;flex-wrap:wrap;gap:4px 16px;list-style:none;margin:10px 0;padding:0;color:var(--muted);\
        font-size:13px}
        .legend li{display:flex;align-items:center;gap:6px}
        .sample{width:10px;height:16px;flex:none}
        @media screen and (max-width:560px){body{padding:12px}section{padding:12px}.tiles dd{font-size:22px}
        .many thead{display:none}.many tr,.many td,.many tbody th,.many tbody{display:block}
        .many tr{border-top:1px solid var(--line);padding:6px 0}
        .many td,.many tbody th,.many td.n{border:0;padding:1px 0 1px 104px;text-align:left;white-space:normal;\
        overflow-wrap:anywhere}
        .many [data-label]::before{content:attr(data-label);float:left;width:96px;margin-left:-104px;\
        color:var(--muted);font-weight:400}.many td:empty{display:none}}
        @media print{body{max-width:none;padding:0;background:none;font-size:11px}
        section{border:0;padding:0 0 8px;margin:0}h2,h3,svg,tr,li,.tiles,.chart,.legend{break-inside:avoid}
        h2,h3,.caption,summary,.chart,.timeline{break-after:avoid}
        table,code,.caption,.ends,.legend{font-size:10px}.wide{overflow:visible}
        details::details-content{content-visibility:visible;display:block;height:auto}
        svg *{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
        @page{margin:14mm}

        """
}
