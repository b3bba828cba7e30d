// The page of react.test.ts: the vault picker, and a check whose question can change.

import { keepPreviousData, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createClient } from 'delegations-client';
import { DelegationsProvider, useCheck } from 'delegations-client/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { VaultPicker } from '../examples/vault-picker.tsx';

/** Of the page, which this project has no types for. */
declare const document: { getElementById(id: string): Parameters<typeof createRoot>[0] };
declare const location: { hash: string };

const HOT = '0x07abCdEf07abCdeF07abCdEf07abcdEf07aBCDef';
const COLD = [
  '0xadAbCDeFaDAbcDefaDAbcdeFaDabcDeFADABcdeF',
  '0xBEABcDEfbEAbcDefBEabCdEFbeAbcdEfbeAbcDEF',
  null,
] as const;

function Picked() {
  const [vault, setVault] = useState<string | null>(null);
  return (
    <main>
      <VaultPicker wallet={HOT} selected={vault} onSelect={setVault} />
      <p id="picked">{vault}</p>
    </main>
  );
}

function Checked() {
  const [index, setIndex] = useState(0);
  const from = COLD[index];
  const check = useCheck('all', from == null ? null : { from, to: HOT });
  return (
    <main>
      <p id="answer">{check.status === 'success' ? `answer: ${check.data}` : check.status}</p>
      {check.status !== 'pending' && (
        <button type="button" onClick={() => check.refetch()}>
          Again
        </button>
      )}
      <button type="button" onClick={() => setIndex(index + 1)}>
        Next
      </button>
    </main>
  );
}

// As a project may have set it: the data of the last query is shown until the next one has its own.
const queries = new QueryClient({ defaultOptions: { queries: { placeholderData: keepPreviousData } } });
const [url = '', part] = decodeURIComponent(location.hash.slice(1)).split(' ');

createRoot(document.getElementById('root')).render(
  <QueryClientProvider client={queries}>
    <DelegationsProvider client={createClient({ url })}>
      {part === 'picker' ? <Picked /> : <Checked />}
    </DelegationsProvider>
  </QueryClientProvider>,
);
