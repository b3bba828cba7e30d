// What the scripts of the developer page need of the document: finding, showing and updating elements in place.

globalThis.dom = (() => {
  const byId = (id) => document.getElementById(id);

  const show = (id, isShown) => {
    byId(id).hidden = !isShown;
  };

  const field = (element, name) => element.querySelector(`[data-field="${name}"]`);

  /** Writes only what is new: a selection in the text survives. */
  function setField(element, name, text) {
    const target = field(element, name);
    if (target.textContent !== text) target.textContent = text;
  }

  const fromTemplate = (id) => byId(id).content.firstElementChild.cloneNode(true);

  /**
   * Makes the children of a container those of the items, by `id`. Children that stay are filled again and not moved, so that
   * they keep the focus.
   */
  function syncList(container, items, create, fill) {
    const old = new Map([...container.children].map((child) => [child.dataset.id, child]));
    const children = items.map((item) => {
      const child = old.get(String(item.id)) ?? create(item);
      child.dataset.id = item.id;
      fill(child, item);
      return child;
    });
    for (const child of old.values()) if (!children.includes(child)) child.remove();
    for (const [position, child] of children.entries())
      if (container.children[position] !== child) container.insertBefore(child, container.children[position] ?? null);
  }

  /** Sets what a copy button copies, or takes it away. */
  function setCopy(id, text) {
    if (text === null) delete byId(id).dataset.copy;
    else byId(id).dataset.copy = text;
  }

  return { byId, show, field, setField, fromTemplate, syncList, setCopy };
})();
