// Chooses the language of the examples that was chosen last. Runs while the page is read, before the examples are shown.

{
  const NAME = 'docs-language';
  const choices = document.querySelector('.languages');
  try {
    const last = choices.querySelector(`input[value="${CSS.escape(localStorage.getItem(NAME) ?? '')}"]`);
    if (last !== null) last.checked = true;
    choices.addEventListener('change', ({ target }) => localStorage.setItem(NAME, target.value));
  } catch {
    // The browser lets nobody store anything: the choice is for this page alone.
  }
}
