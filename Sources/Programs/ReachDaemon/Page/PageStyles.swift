/// The styles of the page of one machine; `HTMLStyles` has those of documents.
enum PageStyles {
    static let text = """
        .now{font-size:18px;line-height:1.4;margin:8px 0 0;padding:10px 14px;background:var(--surface);\
        border:1px solid var(--line);
        border-left:5px solid var(--c4);border-radius:10px}
        .now.up{border-left-color:var(--c0)}.now.down{border-left-color:var(--c2)}\
        .now.degraded{border-left-color:var(--c1)}
        .banner{background:var(--warn);color:var(--warn-text);border:1px solid var(--warn-line);\
        border-radius:10px;padding:9px 14px;
        font-weight:600}
        [hidden]{display:none}
        .links{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:10px;list-style:none;\
        margin:0;padding:0}
        .links li{border:1px solid var(--line);border-left:4px solid var(--c4);border-radius:8px;padding:8px 12px;\
        min-width:0;
        background:var(--raised)}
        .links li.up{border-left-color:var(--c0)}.links li.down{border-left-color:var(--c2)}
        .links h3{margin:0 0 4px}
        .links dl{margin:0}.links dl div{display:flex;gap:10px;font-size:14px}
        .links dt{color:var(--muted);flex:0 0 68px}.links dd{margin:0;min-width:0;overflow-wrap:anywhere}
        .rows{list-style:none;margin:0;padding:0}
        .row{display:grid;grid-template-columns:minmax(180px,1fr) minmax(0,2.6fr);gap:4px 18px;padding:10px 0;
        border-top:1px solid var(--line)}
        .row:first-child{border-top:0;padding-top:0}
        .row>div{min-width:0}
        .row h3{margin:0;display:flex;flex-wrap:wrap;gap:0 10px;justify-content:space-between}
        .row p{margin:0;color:var(--muted);font-size:13px}
        h3 .word{color:var(--c4);font-weight:600;white-space:nowrap}
        h3 .word span{color:inherit;font-weight:inherit}
        .row.up .word{color:var(--c0)}.row.down .word{color:var(--c2)}\
        .row.degraded .word,.row.unknown .word{color:var(--c1)}
        .strips{display:grid;grid-template-columns:3fr 2fr 2fr;gap:4px 14px;align-content:start}
        time{white-space:nowrap}
        .row .ends{margin:2px 0 0}.row .ends span{white-space:nowrap}
        .outages{margin:0;padding-left:18px}.outages li{padding:3px 0;overflow-wrap:anywhere}
        .outages .open b{color:var(--c2)}
        small{color:var(--muted);font-size:13px}
        footer{color:var(--muted);font-size:13px}
        @media(max-width:900px){.row{grid-template-columns:minmax(0,1fr)}}
        @media(max-width:560px){.now{font-size:16px}.strips{grid-template-columns:minmax(0,1fr)}
        .strips div{display:grid;grid-template-columns:72px minmax(0,1fr) 62px;gap:8px;align-items:center}
        .strips .ends{display:contents}.strips .ends span:last-child{order:1;text-align:right}\
        .strips .strip{grid-row:1;grid-column:2;height:20px}}
        @media print{.now,.links li{break-inside:avoid}.strip{height:16px}}

        """
}
