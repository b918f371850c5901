import { once } from 'node:events';

/** Asks whoever sits at the terminal; null where nobody does, or the answer is the end of the input. */
export async function askOnTerminal(question: string): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return null;
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  // Closed by Ctrl-D or Ctrl-C, it never answers.
  const closed = once(lines, 'close').then(() => null);
  const answer = lines.question(question).catch(() => null);
  try {
    const answered = await Promise.race([answer, closed]);
    if (answered === null) process.stdout.write('\n');
    return answered;
  } finally {
    lines.close();
  }
}
