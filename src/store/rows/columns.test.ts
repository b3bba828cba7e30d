import { expect, test } from 'bun:test';
import { columns, ofTable } from './columns.ts';

test('a column has the same position in the select list and in the row', () => {
  const row = columns('number', 'hash', 'timestamp');
  expect(row.sql).toBe('number, hash, timestamp');
  expect(row.sql.split(', ')[row.col.hash]).toBe('hash');
});

test('a column without an expression is NULL, and an expression without a column is left out', () => {
  const row = columns('commit_id', 'kind');
  const expressions = { ...ofTable('s', ['kind', 'rights']), other: '1' };
  expect(row.select(expressions)).toBe('NULL AS commit_id, s.kind AS kind');
});

test('a name that occurs twice is rejected', () => {
  expect(() => columns('hash', 'number', 'hash')).toThrow('Duplicate column');
});
