// One JSON line for each thing worth telling. Nothing that a caller sent is written but the route it matched.

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

const WEIGHT: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function createLog(lowest: LogLevel, write: (line: string) => void): Log {
  return (level, message, fields = {}) => {
    if (WEIGHT[level] < WEIGHT[lowest]) return;
    write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
  };
}
