/* SPDX-FileCopyrightText: 2026 The Khadim authors
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <QApplication>
#include <QCheckBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTimer>
#include <QVBoxLayout>
#include <QWidget>

#include "target-log.h"

/* target-qt5 FOLDER [TITLE]: a window with one of each, in Qt 5 */

int
main (int    argc,
      char **argv)
{
  QApplication app (argc, argv);

  if (argc < 2)
    return 2;
  snprintf (target_folder, sizeof target_folder, "%s", argv[1]);

  QWidget window;
  auto *layout = new QVBoxLayout (&window);
  auto *view = new QPlainTextEdit;
  auto *button = new QPushButton ("Press");
  auto *toggle = new QCheckBox ("Toggle");
  auto *timer = new QTimer (&window);

  window.setWindowTitle (argc > 2 ? argv[2] : "Qt 5 target");
  window.resize (500, 400);
  layout->addWidget (view);
  layout->addWidget (new QLineEdit);
  layout->addWidget (button);
  layout->addWidget (toggle);
  timer->setSingleShot (true);
  QObject::connect (view, &QPlainTextEdit::textChanged, [=] {
    if (!timer->isActive ())
      timer->start (20);
  });
  QObject::connect (timer, &QTimer::timeout,
                    [=] { target_write_text (view->toPlainText ().toUtf8 ().constData ()); });
  QObject::connect (button, &QPushButton::clicked, [] { target_log ("clicked", "button"); });
  QObject::connect (toggle, &QCheckBox::toggled, [] { target_log ("clicked", "toggle"); });
  window.show ();
  view->setFocus ();
  target_log ("shown", "window");

  return app.exec ();
}
