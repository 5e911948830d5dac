/// The styles of a report's own pictures; `HTMLStyles` has those of documents.
enum ReportStyles {
    static let text = """
        .facts{margin:0}.facts div{display:grid;grid-template-columns:150px minmax(0,1fr);gap:2px 14px;padding:3px 0}
        .facts dt{color:var(--muted)}.facts dd{margin:0;overflow-wrap:anywhere}
        @media(max-width:560px){.facts div{grid-template-columns:minmax(0,1fr)}}
        ol{margin:4px 0;padding-left:24px}ol li{overflow-wrap:anywhere}
        .timeline .strip{height:34px}
        .map{list-style:none;margin:0;padding:0}
        .day{display:grid;grid-template-columns:max-content 1fr 4.6em;gap:8px;align-items:center;font-size:13px;color:var(--muted)}
        .day>span:first-child{min-width:6.2em;white-space:nowrap}
        .day .strip{height:15px}.day .n{text-align:right}
        .day+.day{margin-top:1px}
        .clock{display:grid;grid-template-columns:repeat(4,1fr)}
        .chart{display:grid;grid-template-columns:72px 1fr;gap:8px;margin-top:10px}
        .chart svg{width:100%;height:210px;overflow:visible}
        .axis{position:relative;color:var(--muted);font-size:12px;line-height:1}
        .axis span{position:absolute;right:0;transform:translateY(-50%)}
        .axis span:nth-child(2){top:18%}.axis span:nth-child(3){top:36%}.axis span:nth-child(4){top:54%}
        .axis span:nth-child(5){top:71%}.axis span:nth-child(6){top:84%}.axis span:nth-child(7){top:100%}
        .inset{margin-left:80px}
        .key{display:flex;flex-wrap:wrap;gap:2px 16px;color:var(--muted);font-size:13px;margin-left:80px}
        .key span{display:flex;align-items:center;gap:6px}
        .key i{width:10px;height:10px;background:var(--c2)}
        .swatch{width:24px;height:6px;flex:none}
        .chart path,.swatch path{vector-effect:non-scaling-stroke;stroke-linecap:round}
        .grid{stroke:var(--line);fill:none}
        .p50{stroke:var(--accent)}.p90{stroke:var(--c1)}.p99{stroke:var(--c3)}
        .p50,.p90,.p99{fill:none;stroke-width:2;stroke-linejoin:round}
        .p90{stroke-dasharray:7 4}.p99{stroke-dasharray:2 5}
        .lost{fill:var(--c2)}
        .chart .band{fill:var(--idle);opacity:.45}.swatch .band{stroke:var(--idle);stroke-width:6}
        .m0,.m1,.m2{fill:none;stroke-width:3}
        .m0{stroke:var(--accent)}.m1{stroke:var(--c1)}.m2{stroke:var(--c2)}
        @media(max-width:560px){.chart svg{height:170px}.day{gap:6px}}
        @media print{.key i{print-color-adjust:exact;-webkit-print-color-adjust:exact}}

        """
}
