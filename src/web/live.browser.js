// Keeps a page's content as new as the chain: fetched again every few seconds, and put in place where it has changed. What
// somebody is typing is left alone.

const EVERY_MS = 4000;

async function refresh() {
  const main = document.querySelector('main[data-live]');
  if (main === null || document.hidden) return;
  const active = document.activeElement;
  if (active !== null && main.contains(active) && /^(INPUT|SELECT|TEXTAREA)$/.test(active.tagName)) return;
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  if (!response.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const part of fresh.querySelectorAll('[data-part]')) {
    const name = part.getAttribute('data-part');
    const old = main.querySelector(`[data-part="${name}"]`);
    if (old !== null && old.innerHTML !== part.innerHTML) old.replaceWith(part);
  }
}

setInterval(() => {
  refresh().catch(() => {
    // The service is away for a moment: the next turn asks again.
  });
}, EVERY_MS);
