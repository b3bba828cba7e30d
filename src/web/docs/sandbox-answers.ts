// In a sandbox, the examples of the reference show what its own chain answers, with its own blocks and times.

import { EXAMPLES, type Example } from '../../api/examples.ts';
import type { AnswerOf } from './reference.ts';
import { indentedJson } from './samples.ts';

/** Asks the API itself. With a body, it is a POST. */
export type AskApi = (path: string, body?: string) => Promise<Response>;

export async function sandboxAnswers(ask: AskApi): Promise<AnswerOf> {
  const answers = await Promise.all(
    EXAMPLES.map(async ({ request, body }) => {
      const response = await ask(request, body === undefined ? undefined : JSON.stringify(body));
      // No example has an integer above 2^53.
      return indentedJson(await response.json());
    }),
  );
  const texts = new Map<Example, string>(EXAMPLES.map((example, index) => [example, answers[index] ?? '']));
  return (example) => texts.get(example) ?? '';
}
