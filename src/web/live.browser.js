// Refreshes the page every few seconds and replaces the parts that changed, unless the user is typing.

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
    // The service is unreachable: try again next time.
  });
}, EVERY_MS);
