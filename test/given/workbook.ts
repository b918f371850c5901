import { readXlsx } from 'hucre/xlsx';

/** A workbook of ours, read by a reader that did not write it. */
export async function readWorkbook(bytes: Uint8Array) {
  const { sheets } = await readXlsx(bytes);
  const [about, sheet] = sheets;
  if (!about || !sheet) throw new Error(`a workbook with ${sheets.length} sheets`);
  const [heads = [], ...rows] = sheet.rows;
  const cells = [...(sheet.cells ?? [])];
  return {
    about: new Map(about.rows.map(([label, text]) => [String(label), String(text)])),
    heads,
    rows,
    links: cells.flatMap(([at, { hyperlink }]) => (hyperlink ? [[at, hyperlink.target] as const] : [])),
    hasFormulas: cells.some(([, { formula }]) => formula !== undefined),
    frozenRows: sheet.freezePane?.rows,
    filtered: sheet.autoFilter?.range,
  };
}
