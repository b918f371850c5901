const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
export const NAMESPACES = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${OFFICE}"`;

/** How a cell looks: its place among the `cellXfs` of `STYLES`. */
export const LOOKS = { other: 0, date: 1, time: 2, share: 3, head: 4, page: 5, said: 6 } as const;
export type Look = keyof typeof LOOKS;

const FONT = '<sz val="11"/><name val="Calibri"/>';
const xf = (format: number, font: number, inside = '') =>
  `<xf numFmtId="${format}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1" applyAlignment="1">${inside}</xf>`;

export const STYLES = `<styleSheet ${NAMESPACES}>
<numFmts count="3"><numFmt numFmtId="164" formatCode="yyyy-mm-dd"/><numFmt numFmtId="165" formatCode="yyyy-mm-dd hh:mm:ss"/><numFmt numFmtId="166" formatCode="0.0%"/></numFmts>
<fonts count="3"><font>${FONT}</font><font><b/>${FONT}</font><font><u/><sz val="11"/><color rgb="FF1F5FA8"/><name val="Calibri"/></font></fonts>
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>
<borders count="1"><border/></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>
<cellXfs count="7">${xf(0, 0)}${xf(164, 0)}${xf(165, 0)}${xf(166, 0)}${xf(0, 1, '<alignment vertical="top"/>')}${xf(0, 2)}${xf(0, 0, '<alignment vertical="top" wrapText="1"/>')}</cellXfs>
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>
</styleSheet>`;

export const CONTENT_TYPES = `<Types xmlns="${PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/>
<Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/>
<Override PartName="/xl/worksheets/sheet2.xml" ContentType="${TYPE}.worksheet+xml"/>
</Types>`;

/** @param filtered the cells of the second sheet, heads included */
export function workbookPart(filtered: string): string {
  return `<workbook ${NAMESPACES}><bookViews><workbookView/></bookViews>
<sheets><sheet name="About" sheetId="1" r:id="rId1"/><sheet name="Rows" sheetId="2" r:id="rId2"/></sheets><definedNames>
<definedName name="_xlnm._FilterDatabase" localSheetId="1" hidden="1">Rows!${filtered}</definedName>
<definedName name="_xlnm.Print_Titles" localSheetId="1">Rows!$1:$1</definedName></definedNames></workbook>`;
}

/** What a part refers to, as `rId1` and so on. @param targets in XML */
export function relations(...targets: readonly (readonly [type: string, target: string])[]): string {
  const all = targets.map(([type, target], at) => {
    const mode = type === 'hyperlink' ? ' TargetMode="External"' : '';
    return `<Relationship Id="rId${at + 1}" Type="${OFFICE}/${type}" Target="${target}"${mode}/>`;
  });
  return `<Relationships xmlns="${PACKAGE}/relationships">${all.join('')}</Relationships>`;
}
