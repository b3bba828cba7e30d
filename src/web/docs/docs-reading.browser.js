// Marks the section that is read in the table of contents, follows old links, and gives the copy buttons the sample that is shown.

/** A link from the time when all operations were on one page. */
function followOldLink() {
  const moved = document.getElementById(location.hash.slice(1))?.closest('.index li')?.querySelector('a');
  if (moved) location.replace(moved.href);
}
followOldLink();
addEventListener('hashchange', followOldLink);

const contents = document.querySelector('.contents');
const scroller = contents.parentElement;
const links = new Map([...contents.querySelectorAll('.links a')].map((link) => [link.hash.slice(1), link]));
const sections = [...links.keys()].map((id) => document.getElementById(id));
const visible = new Set();
let current = null;

function mark(link) {
  if (link === undefined || link === current) return;
  current?.removeAttribute('aria-current');
  link.setAttribute('aria-current', 'true');
  current = link;
  // Only the list itself is scrolled, never the page.
  const { top, bottom } = scroller.getBoundingClientRect();
  const box = link.getBoundingClientRect();
  if (box.height > 0 && (box.top < top || box.bottom > bottom)) scroller.scrollTop += box.top - (top + bottom) / 2;
}

const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 2;

// The strip below the top of the window: what crosses it is read.
const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) visible[isIntersecting ? 'add' : 'delete'](target);
    const read = atEnd() ? sections.at(-1) : sections.find((section) => visible.has(section));
    mark(links.get(read?.id));
  },
  { rootMargin: '-12% 0px -68% 0px' },
);
for (const section of sections) observer.observe(section);

// As in the style sheet, which shows the contents on a wide screen in any case.
const isWide = matchMedia('(min-width: 48.01rem)');
const fold = () => {
  contents.open = isWide.matches;
};
fold();
isWide.addEventListener('change', fold);

contents.addEventListener('click', ({ target }) => {
  const link = target.closest('a');
  if (link === null) return;
  fold();
  mark(link);
});

// Before the script of the copy buttons sees the click.
addEventListener(
  'click',
  ({ target }) => {
    const button = target instanceof Element ? target.closest('.sample .copy') : null;
    const shown = [...(button?.parentElement.querySelectorAll('pre') ?? [])].find((pre) => pre.checkVisibility());
    if (shown !== undefined) button.dataset.copy = shown.textContent;
  },
  true,
);
