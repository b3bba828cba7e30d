import { createLog } from '../service/log.ts';

/** Logs a change that the operator made, for the log of whatever runs this command. On a terminal, the result says the same. */
export function logChange(message: string, fields: object): void {
  if (process.stderr.isTTY) return;
  createLog('info', (line) => void process.stderr.write(line))('info', message, { ...fields, by: 'operator' });
}
