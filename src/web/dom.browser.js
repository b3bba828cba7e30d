// What the scripts of several pages need of the document.

export const byId = (id) => document.getElementById(id);

export const show = (id, isShown) => {
  byId(id).hidden = !isShown;
};

export function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
