// Makes a certificate authority and server certificates with OpenSSL.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { temporaryPath } from './engines.ts';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const openssl = (...args: readonly string[]) => execFileSync('openssl', args, { stdio: 'pipe' });
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const read = (path: string) => readFileSync(path, 'utf8');

/** A self-signed certificate. */
export function selfSigned(name: string): Certificate {
  const [key, cert] = [temporaryPath('key'), temporaryPath('cert')];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`];
  openssl('req', '-x509', ...NEW_KEY, '-keyout', key, '-out', cert, ...subject, '-days', '2');
  return { key: read(key), cert: read(cert) };
}

export function createAuthority() {
  const authority = selfSigned('authority.example');
  const [caKey, ca] = [temporaryPath('key'), temporaryPath('cert')];
  writeFileSync(caKey, authority.key);
  writeFileSync(ca, authority.cert);
  return {
    ca: authority.cert,
    /** `names` are such as DNS:hooks.example or IP:127.0.0.1. A negative number of days makes an expired certificate. */
    issue(names: string, days = 2): Certificate {
      const paths = ['key', 'request', 'cert', 'extensions'].map(temporaryPath);
      const [key = '', request = '', cert = '', extensions = ''] = paths;
      writeFileSync(extensions, `subjectAltName=${names}`);
      openssl('req', '-new', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', '/CN=receiver');
      const signing = ['-CA', ca, '-CAkey', caKey, '-CAcreateserial', '-days', String(days), '-extfile', extensions];
      openssl('x509', '-req', '-in', request, '-out', cert, ...signing);
      return { key: read(key), cert: read(cert) };
    },
  };
}
