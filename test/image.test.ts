// Builds the image and runs it.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { buildImage } from '../deploy/build-image.ts';
import { freePort } from '../src/sandbox/free-port.ts';
import { buildExecutable } from './support/built-executable.ts';
import { temporaryPath } from './support/engines.ts';
import { type Image, privilegesOf, unpackImage } from './support/image.ts';
import { findProgram } from './support/programs.ts';
import { serveRecording } from './support/recorded-service.ts';
import { runProgram } from './support/serve-process.ts';

const folder = temporaryPath('image');
const archive = join(folder, 'image.tar');
const USER = '10001';

let image: Image;
beforeAll(() => {
  findProgram('buildah');
  mkdirSync(folder);
  buildExecutable(join(folder, 'delegations'));
  buildImage(join(folder, 'delegations'), archive);
  image = unpackImage(archive, folder);
  console.log(`the image: ${(statSync(archive).size / 1e6).toFixed(0)} MB`);
}, 120_000);
afterAll(() => image?.remove());

const run = (program: readonly string[], environment: Record<string, string> = {}) =>
  runProgram(image.command(program), { environment: image.environment(environment) });

describe('the image', () => {
  test('has the executable, its libraries, certificates and users, and no shell', () => {
    const files = readdirSync(image.root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(image.root.length));
    const known =
      /^\/(usr\/local\/bin\/delegations|lib(64)?\/.+\.so(\.\d+)*|etc\/(passwd|group|nsswitch\.conf|ssl\/certs\/ca-certificates\.crt))$/;
    expect(files.filter((path) => !known.test(path))).toEqual([]);
    expect(files).toContain('/usr/local/bin/delegations');
    expect(files).toContain('/etc/ssl/certs/ca-certificates.crt');
    expect(statSync(join(image.root, 'data')).uid).toBe(Number(USER));
  });

  test('answers with a read-only file system and without privileges, is healthy, and stops on a signal', async () => {
    const { Entrypoint, Cmd, Healthcheck } = image.config;
    const [kind, ...healthcheck] = Healthcheck.Test;
    expect(kind).toBe('CMD');
    const PORT = String(freePort());
    const served = await serveRecording(image.command([...Entrypoint, ...Cmd]), {
      folder,
      environment: image.environment({ PORT }),
    });
    try {
      const { asked, wrong } = await served.compareAnswers();
      console.log(`the image: ${asked} answers compared, ${wrong} wrong`);
      expect([asked > 100, wrong]).toEqual([true, 0]);
      expect(privilegesOf(served.pid)).toEqual({
        users: Array(4).fill(USER),
        groups: Array(4).fill(USER),
        effective: '0'.repeat(16),
      });
      expect(readdirSync(join(folder, 'data'))).toContain('delegations.db');
      expect(await run(healthcheck, { PORT })).toMatchObject({ code: 0, stderr: '' });
    } finally {
      // A process that is killed because it took too long has another code.
      expect(await served.stop()).toBe(0);
    }
    expect(await run(healthcheck, { PORT })).toMatchObject({ code: 1 });
  });

  test('writes nowhere but in /data', async () => {
    // Anyone could write there if the file system were not read-only.
    expect(statSync(join(image.root, 'tmp')).mode & 0o7777).toBe(0o1777);
    const { code, stdout, stderr } = await run([...image.config.Entrypoint, 'serve'], {
      DATABASE_URL: 'sqlite:/tmp/elsewhere.db',
    });
    expect([code, stdout + stderr]).toEqual([2, expect.stringContaining('/tmp/elsewhere.db')]);
    expect(readdirSync(join(image.root, 'tmp'))).toEqual([]);
    expect(Object.keys(image.config.Volumes)).toEqual(['/data']);
  });
});
