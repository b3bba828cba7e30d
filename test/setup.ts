import { afterAll } from 'bun:test';
import { removeEngines } from './engines.ts';

afterAll(removeEngines);
