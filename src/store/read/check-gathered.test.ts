import { expect, test } from 'bun:test';
import { gather } from './check-gathered.ts';

/** Records the statements that are sent; each is answered by `finish`, with its questions in capitals. */
function create(size = 3) {
  const sent: { readonly questions: readonly string[]; finish(error?: Error): void }[] = [];
  const send = (questions: readonly string[]) =>
    new Promise<(string | Error)[]>((resolve, reject) => {
      const finish = (error?: Error) => (error ? reject(error) : resolve(questions.map(answer)));
      sent.push({ questions, finish });
    });
  const answer = (question: string) => (question === 'bad' ? new Error('bad question') : question.toUpperCase());
  const ask = gather<string, string>(async (one) => (await send([one]))[0] as string, send, size);
  return { ask, sent };
}

test('a question is sent at once while nothing runs, and together with others behind a running one', async () => {
  const { ask, sent } = create();
  const first = ask('a');
  const others = ['b', 'c', 'd', 'e'].map(ask);
  expect(sent.map(({ questions }) => questions)).toEqual([['a']]);
  sent[0]?.finish();
  expect(await first).toBe('A');
  expect(sent.map(({ questions }) => questions)).toEqual([['a'], ['b', 'c', 'd']]);
  sent[1]?.finish();
  await others[0];
  sent[2]?.finish();
  expect(await Promise.all(others)).toEqual(['B', 'C', 'D', 'E']);
  const last = ask('f');
  expect(sent[3]?.questions).toEqual(['f']);
  sent[3]?.finish();
  expect(await last).toBe('F');
});

test('an error of one question is its own, and an error of the statement is everyone’s', async () => {
  const { ask, sent } = create();
  const first = ask('a');
  const others = Promise.allSettled(['b', 'bad', 'c', 'd'].map(ask));
  sent[0]?.finish(new Error('lost'));
  await expect(first).rejects.toThrow('lost');
  sent[1]?.finish();
  await Bun.sleep(0);
  sent[2]?.finish(new Error('lost too'));
  expect(await others).toEqual([
    { status: 'fulfilled', value: 'B' },
    { status: 'rejected', reason: new Error('bad question') },
    { status: 'fulfilled', value: 'C' },
    { status: 'rejected', reason: new Error('lost too') },
  ]);
});

test('a statement that hangs does not hold back the questions behind it', async () => {
  const { ask, sent } = create();
  void ask('hangs');
  const behind = ask('b');
  while (sent.length < 2) await Bun.sleep(1);
  sent[1]?.finish();
  expect(await behind).toBe('B');
});
