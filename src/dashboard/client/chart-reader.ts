const HINT = 'Point at the chart, touch it or use the arrow keys on it to read its numbers.';
const SVG = 'http://www.w3.org/2000/svg';
/** By how many dates a key moves; at either end, it stays there. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -7,
  PageUp: 7,
  Home: -Infinity,
  End: Infinity,
};

/** One of the drawings of a chart, of which the style sheet shows one. */
interface Drawing {
  svg: SVGSVGElement;
  /** The horizontal position of each date, in units of the drawing. */
  across: number[];
  marker: SVGLineElement;
}

/** A date's numbers with their names. */
type Reading = readonly (readonly [name: string, value: string])[];

/** Makes the values of charts readable by pointer, touch and keyboard. */
export function readCharts(): void {
  for (const chart of document.querySelectorAll<HTMLElement>('[data-readable]')) new ChartReader(chart);
}

class ChartReader {
  readonly #dates: string[];
  readonly #drawings: Drawing[];
  readonly #numbers: ReadonlyMap<string, Reading>;
  readonly #unlisted: string;
  /** Over the drawings, which stay the same for screen readers. */
  readonly #slider = document.createElement('div');
  readonly #line = document.createElement('p');
  /** The date whose values are shown. */
  #at: number | null = null;

  constructor(chart: HTMLElement) {
    this.#dates = (chart.dataset['dates'] ?? '').split(' ');
    this.#unlisted = chart.dataset['unlisted'] ?? '';
    this.#numbers = numbersOf(document.getElementById(chart.dataset['readable'] ?? '')?.closest('table') ?? null);
    this.#drawings = [...chart.querySelectorAll<HTMLElement>('[data-across]')].flatMap(drawingOf);
    this.#line.className = 'reading';
    this.#line.textContent = HINT;
    this.#slider.className = 'reader';
    this.#describe(chart.querySelector('title')?.textContent ?? '');
    this.#listen();
    chart.append(this.#slider);
    chart.before(this.#line);
  }

  #describe(title: string): void {
    const { length } = this.#dates;
    const attributes = {
      role: 'slider',
      'aria-label': `${title}: date`,
      'aria-valuemin': '1',
      'aria-valuemax': `${length}`,
    };
    for (const [name, value] of Object.entries(attributes)) this.#slider.setAttribute(name, value);
    this.#slider.tabIndex = 0;
    this.#announce(length - 1);
  }

  #listen(): void {
    this.#slider.addEventListener('pointermove', ({ clientX }) => this.#read(this.#nearest(clientX)));
    this.#slider.addEventListener('pointerdown', ({ clientX }) => this.#read(this.#nearest(clientX)));
    this.#slider.addEventListener('pointerleave', ({ pointerType }) => {
      // What a finger pointed at stays when the finger is lifted.
      if (pointerType === 'mouse' && document.activeElement !== this.#slider) this.#read(null);
    });
    this.#slider.addEventListener('focus', () => this.#read(this.#at ?? this.#dates.length - 1));
    this.#slider.addEventListener('blur', () => this.#read(null));
    this.#slider.addEventListener('keydown', (event) => {
      const step = STEPS[event.key];
      if (step === undefined || event.metaKey || event.ctrlKey || event.altKey) return;
      event.preventDefault();
      const last = this.#dates.length - 1;
      this.#read(Math.max(0, Math.min(last, (this.#at ?? last) + step)));
    });
  }

  /** The date nearest to a horizontal position in the window. */
  #nearest(clientX: number): number | null {
    const shown = this.#drawings.find(({ svg }) => svg.getBoundingClientRect().width > 0);
    if (!shown) return null;
    const { left, width } = shown.svg.getBoundingClientRect();
    const across = ((clientX - left) * shown.svg.viewBox.baseVal.width) / width;
    const distances = shown.across.map((place) => Math.abs(place - across));
    return distances.indexOf(Math.min(...distances));
  }

  /** Shows the values and the position of a date, or none. */
  #read(at: number | null): void {
    if (at === this.#at) return;
    this.#at = at;
    for (const { marker, across } of this.#drawings) {
      const place = at === null ? undefined : across[at];
      marker.toggleAttribute('hidden', place === undefined);
      for (const end of ['x1', 'x2']) marker.setAttribute(end, `${place ?? 0}`);
    }
    if (at === null) this.#line.textContent = HINT;
    else this.#line.replaceChildren(...this.#announce(at));
  }

  /** Announces a date to screen readers, and returns it as the parts of a visible line. */
  #announce(at: number): Node[] {
    const date = this.#dates[at] ?? '';
    const reading = this.#numbers.get(date);
    const parts = reading?.map(([name, value]) => `${name} ${value}`) ?? [this.#unlisted];
    this.#slider.setAttribute('aria-valuenow', `${at + 1}`);
    this.#slider.setAttribute('aria-valuetext', `${date}: ${parts.join(', ')}`);
    return [element('b', date), ...(reading?.map(numberOf) ?? [element('span', this.#unlisted)])];
  }
}

/** The rows of a table by their names, each value with the head of its column. */
function numbersOf(table: HTMLTableElement | null): Map<string, Reading> {
  const [head, ...rows] = [...(table?.rows ?? [])].map(({ cells }) => [...cells].map((cell) => cell.textContent ?? ''));
  return new Map(
    rows.map(([date = '', ...values]) => [date, values.map((value, at) => [head?.[at + 1] ?? '', value])]),
  );
}

function drawingOf(place: HTMLElement): Drawing[] {
  const svg = place.querySelector('svg');
  if (!svg) return [];
  const marker = document.createElementNS(SVG, 'line');
  marker.setAttribute('class', 'marker');
  marker.setAttribute('y1', place.dataset['top'] ?? '0');
  marker.setAttribute('y2', place.dataset['bottom'] ?? '0');
  marker.toggleAttribute('hidden', true);
  svg.append(marker);
  return [{ svg, across: (place.dataset['across'] ?? '').split(' ').map(Number), marker }];
}

function numberOf([name, value]: readonly [string, string]): HTMLElement {
  const part = element('span', `${name} `);
  part.append(element('b', value));
  return part;
}

function element(name: string, text: string): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
