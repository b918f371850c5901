import { describe, expect, it, test } from 'vitest';
import { analyses, findAnalysis } from '../../../src/answers/query/catalog.js';
import { type Parameter, valuesOf } from '../../../src/answers/query/parameters.js';

const TODAY = '2025-03-10';

test.each(analyses())('the header of $name says all of it', (analysis) => {
  const { parameters, shown, sql } = analysis;
  // The parameter and the column of the website are those of every analysis.
  const lines = sql.split('\n').findIndex((line) => !line.startsWith('--'));
  expect(lines).toBe(2 + parameters.length + shown.length);
  const names = parameters.map(({ name }) => name);
  const used = sql.replaceAll(/--.*$/gm, '').matchAll(/\$(\w+)/g);
  expect([...new Set([...used].map(([, name]) => name))].sort()).toEqual(names.toSorted());
});

test('an analysis whose name is mistyped is suggested, and all are listed with their titles', () => {
  const find = () => findAnalysis('indexing-trends');
  expect(find).toThrow('there is no analysis "indexing-trends". Did you mean "indexing_trend"?');
  expect(find).toThrow('  page: One page in sentences');
  expect(() => findAnalysis('../views/pages')).toThrow('there is no analysis "../views/pages". There are:');
});

describe('the value of a parameter', () => {
  const readAs = (type: Parameter['type'], text: string, preset: string | null = null) => {
    const parameters: Parameter[] = [{ name: 'x', type, default: preset, description: '' }];
    return valuesOf({ name: 'a', parameters }, new Map([['x', text]]), TODAY)['x'];
  };

  it.each<[Parameter['type'], string, unknown]>([
    ['integer', '0', 0],
    ['number', '1.5e3', 1500],
    ['boolean', 'Yes', true],
    ['date', '2024-02-29', '2024-02-29'],
    ['date', 'today', '2025-03-10'],
    ['date', '10 days ago', '2025-02-28'],
  ])('%s %j is %j', (type, text, value) => {
    expect(readAs(type, text)).toBe(value);
  });

  it.each<[Parameter['type'], string]>([
    ['integer', '1.5'],
    ['integer', '-1'],
    ['integer', '9999999999999999'],
    ['date', '2025-02-29'],
    ['date', 'tomorrow'],
  ])('%s %j is refused, with the parameters that there are', (type, text) => {
    expect(() => readAs(type, text)).toThrow(`a: x is not `);
    expect(() => readAs(type, text)).toThrow(`(given: ${text}).\nIts parameters are:\n  x (${type}, required): `);
  });

  it('is null for the word of its default', () => {
    expect([readAs('text', 'all', 'all'), readAs('text', 'none', 'all')]).toEqual([null, 'none']);
  });

  it('is null for `none` where it limits a list, whatever its default', () => {
    const directories = findAnalysis('deindexed_by_directory');
    expect(valuesOf(directories, new Map(), TODAY)['limit']).toBe(10);
    expect(valuesOf(directories, new Map([['limit', 'none']]), TODAY)['limit']).toBeNull();
    expect(() => valuesOf(directories, new Map([['limit', 'all']]), TODAY)).toThrow(
      'limit is not a whole number from 0, or none (given: all)',
    );
  });

  it('must be given where there is no default, and none other; blanks around it are none of it', () => {
    const page = findAnalysis('page');
    expect(() => valuesOf(page, new Map(), TODAY)).toThrow(
      /^page: parameter url is required: url=….\nIts parameters are:\n[\s\S]*\n {2}url \(text, required\)/,
    );
    expect(() => valuesOf(page, new Map([['ulr', 'x']]), TODAY)).toThrow('unknown parameter ulr (did you mean url?).');
    expect(valuesOf(page, new Map([['url', 'x\r']]), TODAY)).toEqual({ url: 'x', website: null });
  });
});
