import { STYLE } from '../../answers/html/style.js';

/** The style sheet of the dashboard: the report's, plus what only an application has. It loads nothing. */
export const DASHBOARD_STYLE = `${STYLE}
body{max-width:76rem}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:3px}
main:focus{outline:none}
.skip{position:absolute;left:-100vw;top:.5rem;background:var(--ground);padding:.5rem .8rem;z-index:1}
.skip:focus{left:.5rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.bar{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;margin-bottom:1rem}
.bar p{margin:0}.brand a{font-weight:650;font-size:1.1rem;color:var(--text)}
.who{display:flex;gap:.8rem;align-items:center;color:var(--soft);font-size:.87rem;overflow-wrap:anywhere}
.tabs{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;border-bottom:1px solid var(--line);margin-bottom:1.4rem}
.tabs p{margin:0;padding:.45rem 0}
.tabs ul{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;list-style:none;margin:0;padding:0}
.tabs li a{display:block;padding:.45rem 0;border-bottom:3px solid transparent;color:var(--text)}
.tabs li a[aria-current]{border-color:var(--link);font-weight:600}
main h2{border-top:0;padding-top:0;margin:2rem 0 .6rem;font-size:1.15rem}
button,input,select{font:inherit;color:inherit;background:var(--ground);border:1px solid var(--soft);border-radius:6px;padding:.4rem .6rem;max-width:100%;min-height:2.4rem}
button{background:var(--card);cursor:pointer;font-weight:600;padding:.4rem 1rem}
button:hover{border-color:var(--link)}
label{display:block;font-size:.83rem;color:var(--soft);margin-bottom:.15rem}
.filter{display:flex;flex-wrap:wrap;gap:.7rem .9rem;align-items:flex-end;background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.8rem .9rem;margin:1rem 0}
.filter p{margin:0;max-width:100%}.filter p:has([type=search]){flex:1 1 8rem;max-width:14rem}.filter [type=search]{width:100%}
.sign-in{max-width:26rem}.sign-in input[type=password]{width:100%}
.shown{color:var(--soft);margin:1rem 0 .3rem}
.empty{color:var(--soft);padding:.8rem 0}
caption{text-align:left;color:var(--soft);font-size:.87rem;padding-bottom:.4rem}
thead th a{color:inherit;text-decoration:underline;text-underline-offset:.2em}
thead th[aria-sort] a{color:var(--text)}
tbody th[scope=row]{min-width:11rem}tbody th .url{display:inline-block;width:max-content;max-width:28rem}tbody td b{white-space:nowrap}@media (min-width:641px){td[data-head=State],td[data-head=Canonical]{min-width:9rem}}
tbody tr:hover{background:var(--card)}
main td a,main p a,main dd a,main h1 a,.events a,tbody th a{text-decoration:underline;text-underline-offset:.15em}
.brand a{display:inline-flex;align-items:center;gap:.5rem}.brand svg{width:1.4rem;height:1.4rem;fill:var(--link)}
.actions{display:flex;flex-wrap:wrap;gap:.5rem 1.2rem;align-items:center;margin:1.2rem 0}
main .action{display:inline-block;background:var(--link);color:var(--ground);border:1px solid var(--link);border-radius:6px;padding:.5rem 1rem;font-weight:600;text-decoration:none}
main .action:hover{background:var(--ground);color:var(--link)}
.periods{display:flex;flex-wrap:wrap;gap:.2rem 1rem;list-style:none;padding:0;margin:.6rem 0 1rem;font-size:.9rem}
.periods a{display:inline-block;padding:.3rem 0}.periods a[aria-current]{color:var(--text);font-weight:600;border-bottom:3px solid var(--link)}
.events{padding-left:0;list-style:none;margin:.6rem 0;overflow-wrap:anywhere}.events li{padding:.25rem 0}
.deltas table{width:auto;min-width:min(40rem,100%)}
.said{padding-left:1.1rem;margin:.4rem 0 1rem;color:var(--soft)}
.band{display:block;width:100%;height:1.4rem;border-radius:4px}
.band .indexed{fill:var(--indexed)}.band .not-indexed{fill:var(--not-indexed)}.band .no-data,.band .not-inspected{fill:var(--no-data)}.band .data-lost{fill:var(--period)}.band .gone{fill:var(--line)}
.timeline{list-style:none;margin:.8rem 0;padding:0 0 0 .4rem}
.timeline li{position:relative;display:grid;grid-template-columns:7rem 1fr;gap:0 1rem;padding:.15rem 0 .9rem 1.4rem;border-left:2px solid var(--line)}
.timeline li::before{content:"";position:absolute;left:-.45rem;top:.5rem;width:.75rem;height:.75rem;border-radius:50%;background:var(--line)}
.timeline .gain::before{background:var(--indexed)}.timeline .loss::before{background:var(--not-indexed);border-radius:2px}
.timeline p{margin:0}.timeline .date{color:var(--soft);font-size:.87rem}
.downloads{font-size:.9rem;margin:.3rem 0}.downloads a{padding:.3rem .2rem}
.facets ul{list-style:none;margin:.2rem 0 .8rem;padding:0}.facets li{display:flex;gap:.2rem .8rem;justify-content:space-between;font-size:.87rem}
.facets li a{overflow-wrap:anywhere;padding:.15rem 0}.facets li span:not(.unseen):not([aria-hidden]){color:var(--soft);font-variant-numeric:tabular-nums}
.facets h2{font-size:.9rem;margin:.4rem 0 .1rem}
@media (min-width:60rem){@supports selector(::details-content){
.narrowed{display:grid;grid-template-columns:14rem minmax(0,1fr);gap:0 1.8rem}
.facets::details-content{content-visibility:visible;height:auto}.facets summary{display:none}
}}
.part h3{margin-top:1.6rem}
.paging ul{display:flex;flex-wrap:wrap;gap:.3rem 1rem;list-style:none;padding:0;margin:.9rem 0;align-items:center}
.paging a,.paging .off{display:inline-block;padding:.35rem 0}
.paging .off{color:var(--soft)}
.facts{margin:.4rem 0}
.facts div{display:grid;grid-template-columns:11rem 1fr;gap:.2rem .9rem;padding:.3rem 0;border-bottom:1px solid var(--line);font-size:.9rem}
.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}.facts ul{margin:0;padding-left:1.1rem}
.filter details[open]{flex-basis:100%}.filter summary{padding:.55rem 0}
fieldset{border:1px solid var(--line);border-radius:6px;margin:0;padding:.5rem .8rem .7rem;min-width:0}
legend{color:var(--soft);font-size:.83rem;padding:0 .3rem}
fieldset label{display:inline-flex;align-items:center;gap:.4rem;margin:0;padding:.2rem 0;width:13rem;max-width:100%;font-size:.9rem;color:var(--text)}
input[type=checkbox]{min-height:0;width:1.05rem;height:1.05rem;margin:0;padding:0;flex:none;accent-color:var(--link)}
.few{margin:0;padding:0;list-style:none;min-width:12rem}
@media screen and (max-width:640px){
.cards caption{display:block}.cards .sorts{display:block}
.sorts tr{border:0;padding:0;gap:0 1rem}.sorts tr::before{content:"Sort by";color:var(--soft);padding:.35rem 0}
.sorts th{display:none}.sorts th:has(a){display:block;border:0;padding:.35rem 0}
.filter p{flex:1 1 auto;min-width:45%}.filter p:has([type=search]){flex-basis:45%;max-width:100%}.filter p:first-of-type{flex-basis:100%}.filter p input,.filter select{width:100%}
tbody th .url{max-width:100%}
fieldset label{width:calc(50% - .3rem)}
.facts div,.timeline li{grid-template-columns:1fr;gap:0}
}
`;
