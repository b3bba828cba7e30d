// Asks a question in a dialog of the page. When it is closed, the browser returns the focus to where it was.

globalThis.dialogs = (() => {
  const { byId } = globalThis.dom;

  /** Resolves to what was filled in, or to null if the user cancelled. `prepare` fills the dialog before it opens. */
  function open(id, prepare) {
    const dialog = byId(id);
    const form = dialog.querySelector('form');
    form.reset();
    prepare(dialog, form);
    dialog.returnValue = '';
    dialog.showModal();
    return new Promise((resolve) => {
      dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes' ? new FormData(form) : null), {
        once: true,
      });
    });
  }

  document.addEventListener('session-ended', () => {
    for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close('');
  });

  return { open };
})();
