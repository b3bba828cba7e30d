// Copies the text of a pressed button with `data-copy`, and says so.

document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element ? target.closest('button[data-copy]') : null;
  if (button === null) return;
  // The first press remembers the name: a second one may come while it says "Copied".
  button.dataset.name ??= button.textContent;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = 'Copied';
  } catch {
    // Browsers refuse it on pages without TLS.
    button.textContent = 'Not allowed';
  }
  document.getElementById('announcements').textContent = button.textContent;
  setTimeout(() => {
    button.textContent = button.dataset.name;
  }, 1500);
});
