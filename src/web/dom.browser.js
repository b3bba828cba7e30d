// What the scripts of several pages need of the document.

export const byId = (id) => document.getElementById(id);

export const show = (id, isShown) => {
  byId(id).hidden = !isShown;
};

export function element(tag, text = '', className = '') {
  const made = document.createElement(tag);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** A button that submits nothing. */
export function button(text, onClick) {
  const made = element('button', text);
  made.type = 'button';
  made.addEventListener('click', () => onClick(made));
  return made;
}
