// Arrow keys, Home and End move the focus between a chart's bars. If scripts are disabled, the table has the values.
for (const chart of document.querySelectorAll('.chart svg')) {
  const marks = [...chart.querySelectorAll('.mark')].filter((mark) => mark instanceof SVGElement);
  chart.addEventListener('keydown', (event) => {
    if (!(event instanceof KeyboardEvent)) return;
    const focused = document.activeElement;
    const index = focused instanceof SVGElement ? marks.indexOf(focused) : -1;
    /** @type {Record<string, number>} */
    const next = {
      ArrowLeft: index - 1,
      ArrowUp: index - 1,
      ArrowRight: index + 1,
      ArrowDown: index + 1,
      Home: 0,
      End: marks.length - 1,
    };
    const mark = marks[next[event.key] ?? -1];
    if (index === -1 || mark === undefined) return;
    event.preventDefault();
    marks[index]?.setAttribute('tabindex', '-1');
    mark.setAttribute('tabindex', '0');
    mark.focus();
  });
}
