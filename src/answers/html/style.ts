import { darkRules, heatRules, PALETTE } from './charts/palette.js';

/** The style sheet of a report: light and dark, screen, phone and paper. It loads nothing. */
export const STYLE = `
:root{--ground:#fff;--card:#f6f8fa;--text:#1c2128;--soft:#525c69;--line:#d5dae1;--link:#1f5fa8;--bad:${PALETTE.partial.light};--good:${PALETTE.gain.light};
--indexed:${PALETTE.indexed.light};--not-indexed:${PALETTE.notIndexed.light};--no-data:${PALETTE.noData.light};--period:${PALETTE.period.light}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1.25rem 3rem;max-width:62rem;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{font-size:1.6rem;line-height:1.25;margin:0 0 .35rem;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:2.5rem 0 .5rem;padding-top:1rem;border-top:2px solid var(--line);overflow-wrap:anywhere}
h3{font-size:1.1rem;margin:2.2rem 0 .5rem}
h4{font-size:.95rem;margin:1.3rem 0 .3rem}
p{margin:.4rem 0 .8rem}
.about,.note,footer{color:var(--soft);font-size:.87rem}
.about p,.note{margin:.2rem 0}
.note{margin-top:.5rem;overflow-wrap:anywhere}
.lead{font-size:1.08rem;margin:1rem 0;overflow-wrap:anywhere}
.warning{border-left:4px solid var(--bad);background:var(--card);padding:.5rem .8rem;overflow-wrap:anywhere}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--card);padding:.1em .3em;border-radius:3px}
.url{overflow-wrap:anywhere}
.date{white-space:nowrap}
.bad{color:var(--bad)}.good{color:var(--good)}
.unknown{color:var(--soft)}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(13rem,1fr));gap:.7rem;margin:1rem 0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.65rem .85rem}
.tiles dt{color:var(--soft);font-size:.85rem}
.tiles dd{margin:0}
.tiles b{display:block;font-size:1.55rem;line-height:1.3;font-weight:650;font-variant-numeric:tabular-nums}
.tiles small{font-size:.95rem;font-weight:400;color:var(--soft)}
.tiles dd span{color:var(--soft);font-size:.83rem}
.scroll{overflow-x:auto;margin:.4rem 0}
table{border-collapse:collapse;width:100%;font-size:.87rem;font-variant-numeric:tabular-nums}
th,td{padding:.32rem .55rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:600}
thead th{vertical-align:bottom;border-bottom-width:2px}
tbody th{font-weight:400;color:var(--text)}
.number{text-align:right;white-space:nowrap}
thead .number{white-space:normal}
td:first-child,th:first-child{padding-left:0}
.legend{overflow-wrap:anywhere;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;margin:.3rem 0;padding:0;color:var(--soft);font-size:.85rem}
.swatch{display:inline-block;width:.8em;height:.8em;margin-right:.4em;border-radius:2px;vertical-align:-.05em;background:var(--line)}
.swatch.indexed{background:var(--indexed)}.swatch.not-indexed{background:var(--not-indexed)}.swatch.no-data,.swatch.not-inspected{background:var(--no-data)}.swatch.data-lost{background:var(--period)}
${heatRules('light')}
.heat{table-layout:fixed;margin:.4rem 0}.heat th,.heat td{padding:.1rem 0;border-color:var(--ground);vertical-align:middle;line-height:1.35}
.heat th:first-child{width:10rem;padding-right:.5rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.heat thead td{vertical-align:bottom;white-space:nowrap}.heat .number{padding-left:.4rem}.heat thead .number{width:4.2rem}
.heat tbody td:not(.number){text-align:center;font-size:.6rem}
.ends{display:flex;justify-content:space-between;color:var(--soft);font-size:.83rem;margin:.2rem 0}
.heat .noted{box-shadow:inset 0 3px var(--text),inset 0 4px var(--ground)}.heat b{background:var(--ground);border-radius:2px}.heat td a{color:inherit}main .heat td a{text-decoration:none}
.key .swatch{margin:0;border-radius:0}
.first h2{font-size:1.05rem;margin:1.1rem 0 .3rem;padding:0;border:0}.first ul{margin:.3rem 0;padding-left:1.1rem}.first li{overflow-wrap:anywhere;margin:.2rem 0}.first li a{text-decoration:underline}
.first .lead{margin:.5rem 0;font-size:1rem}
.beside{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(19rem,100%),1fr));gap:0 2rem}
summary{cursor:pointer;color:var(--link);font-size:.87rem;padding:.3rem 0}
.chart svg{display:block;width:100%;height:auto;max-width:100%}
.chart text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif!important;font-size:11px!important}
.chart.narrow{display:none}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem}
@media screen and (max-width:640px){
body{padding:.7rem .9rem}h1{font-size:1.3rem}.first{font-size:.88rem;line-height:1.35}.first .lead{font-size:.92rem;margin:.35rem 0}.first h2{margin:.6rem 0 .2rem}.about,.first .note{font-size:.8rem}.first .tiles{margin:.5rem 0}
.heat .wide,.ends span:nth-child(2):not(:last-child){display:none}.heat th:first-child{width:6rem}.heat thead .number{width:3.7rem}
.chart.wide{display:none}.chart.narrow{display:block}
.tiles{grid-template-columns:repeat(2,1fr);gap:.5rem}.tiles div{padding:.5rem .6rem}.tiles b{font-size:1.3rem}
.cards thead{display:none}.cards,.cards tbody{display:block}
.cards tr{display:flex;flex-wrap:wrap;gap:0 1.1rem;border:1px solid var(--line);border-radius:8px;padding:.35rem .6rem;margin:.5rem 0}
.cards td,.cards tbody th{padding:.1rem 0;border:0;text-align:left;min-width:0}
.cards td::before{content:attr(data-head) " ";color:var(--soft)}
.cards td:first-child,.cards tbody th{flex-basis:100%;font-weight:600}.cards td:first-child::before{content:none}
}
@media screen and (prefers-color-scheme:dark){
:root{--ground:#11161d;--card:#1a212b;--text:#e3e8ee;--soft:#a3adba;--line:#333c48;--link:#78b4f0;--bad:${PALETTE.partial.dark};--good:${PALETTE.gain.dark};
--indexed:${PALETTE.indexed.dark};--not-indexed:${PALETTE.notIndexed.dark};--no-data:${PALETTE.noData.dark};--period:${PALETTE.period.dark}}
${darkRules()}${heatRules('dark')}}
@media print{
@page{size:A4;margin:12mm}
html{font-size:12px}body{max-width:none;padding:0;font-size:10pt}.first{font-size:9pt}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.tiles{grid-template-columns:repeat(4,1fr)}
.tiles div,tr,.chart,.legend{break-inside:avoid}.legend{break-after:avoid}.appendix{break-before:page}
h2,h3,h4,.part>p:not(.note){break-after:avoid}
thead{display:table-header-group}
.scroll{overflow:visible}
details::details-content{content-visibility:visible;height:auto}summary{display:none}
table{font-size:8.5pt}th,td{padding:.2rem .35rem}
a{color:inherit}
}
`;
