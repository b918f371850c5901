import { counted } from '../../base/observe/format.js';
import type { Analysis } from '../query/catalog.js';
import { FELL_OUT, periodNote } from '../query/period-note.js';
import type { Question } from '../query/question.js';
import type { Reader } from '../query/reader.js';
import { ageText, dataAgeOf } from '../status/data-age.js';
import type { About } from './workbook.js';

const MOST_NAMES = 20;

/**
 * What the first sheet of a workbook says about a question, besides how many rows answer it. Ask it before the question.
 *
 * @param analysis null for the user's own SQL
 * @param given the parameters that the user gave
 */
export async function aboutQuestion(
  reader: Reader,
  question: Question,
  analysis: Analysis | null,
  given: Iterable<readonly [name: string, value: string]>,
): Promise<About> {
  const period = analysis && (await periodNote(reader, question));
  const asked = [...given].map(([name, value]) => `${name}=${value}`).join(', ');
  const { limit } = question.parameters;
  return [
    ['Title', analysis?.title ?? 'Own SQL'],
    ['What', analysis ? `${analysis.description} Gives ${analysis.grain}.` : question.sql],
    ...(await aboutData(reader, question.website ?? null, period)),
    ...line('Parameters', asked),
    ...line(
      'Limit',
      analysis && typeof limit === 'number' ? `At most ${counted(limit, 'row')}; limit=none for all.` : null,
    ),
  ];
}

/** Which websites and dates an answer is about, and as of when it is. @param period as `periodNote` says it */
export async function aboutData(reader: Reader, website: string | null, period: string | null): Promise<About> {
  const covered = await reader.newest(website);
  const age = await dataAgeOf(reader, covered, Date.now());
  const names = covered.slice(0, MOST_NAMES).map(({ name }) => name);
  return [
    ...line('Website', [...names, ...(covered.length > MOST_NAMES ? ['…'] : [])].join(', ')),
    ...line('Period', period?.replace(FELL_OUT, '').trim()),
    ...line('Definition', period?.includes(FELL_OUT) ? FELL_OUT : null),
    ...line('As of', age && ageText(age).replace(/^as of /, '')),
    ['Times', 'UTC'],
  ];
}

function line(label: string, text: string | null | undefined): About {
  return text ? [[label, text]] : [];
}
